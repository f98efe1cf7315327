# docker build -t weir .
# docker run --rm -v "$PWD:/work" weir check examples/peterson.weir
FROM rust:1-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo install --locked --root /opt/weir --path crates/weir-cli

# With rustc, which reads programs in Rust.
FROM rust:1-slim-bookworm
# For programs in C and C++, `weir litmus run` and pictures of graphs.
RUN apt-get update \
    && apt-get install -y --no-install-recommends clang-16 g++ gcc libc6-dev graphviz \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/weir/bin/weir /usr/local/bin/weir
WORKDIR /work
ENTRYPOINT ["weir"]
CMD ["--help"]
