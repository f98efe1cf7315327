#!/bin/sh
# Cargo runs this in place of rustc, as `wrapper.sh rustc arguments`. What is compiled for the target is given the stand-ins and
# options of Weir; build scripts and macros, which run here, are compiled as they are.
rustc=$1
shift
here=$(dirname -- "$0")

target=
name=
library=
before=
weir=
kani=
loom=
for argument; do
    case $argument in
        --target | --target=*) target=yes ;;
        --print | --print=* | -vV) exec "$rustc" "$@" ;;
        *src/lib.rs) library=yes ;;
        weir=*) weir=yes ;;
        kani=*) kani=yes ;;
        loom=*) loom=yes ;;
    esac
    [ "$before" = --crate-name ] && name=$argument
    before=$argument
done
[ -z "$target" ] && exec "$rustc" "$@"
# A build script that tries what the compiler can do. It must not see options that are unstable.
[ -n "$TARGET" ] && [ -n "$HOST" ] && [ -n "$NUM_JOBS" ] && exec "$rustc" "$@"

# The crates loom and shuttle are ours, whatever their version. A test may have the same name.
case $library$name in
    yesloom | yesshuttle)
        left=$#
        while [ "$left" -gt 0 ]; do
            argument=$1
            shift
            case $argument in
                --edition=*) argument=--edition=2024 ;;
                *src/lib.rs) argument=$here/src/$name/lib.rs ;;
            esac
            set -- "$@" "$argument"
            left=$((left - 1))
        done
        ;;
esac
[ -z "$weir" ] && set -- "$@" --extern "weir=$here/libweir.rlib"
# With `--cfg loom` some crates use it without a dependency, unless a feature is on.
[ -z "$loom" ] && [ "$library$name" != yesloom ] && set -- "$@" --extern "loom=$here/libloom.rlib"
[ -z "$kani" ] && set -- "$@" --extern "kani=$here/libkani.rlib"

RUSTC_BOOTSTRAP=1
export RUSTC_BOOTSTRAP
# shellcheck disable=SC2086
exec "$rustc" "$@" $WEIR_FLAGS -Zunstable-options -Zpanic-abort-tests --emit=llvm-ir --cap-lints=warn \
    --extern "noprelude:std=$here/libstd.rlib" -L "dependency=$here"
