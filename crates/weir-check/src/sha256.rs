//! SHA-256 (FIPS 180-4), for files that are divided among machines: what one machine has checked
//! is what the others have.

/// A message that is being hashed.
#[derive(Clone, Debug)]
pub struct Sha256 {
    state: [u32; 8],
    /// The last bytes, which do not fill a block yet.
    rest: [u8; 64],
    /// The number of bytes so far.
    len: u64,
}

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
#[rustfmt::skip]
const K: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

impl Default for Sha256 {
    fn default() -> Self {
        let state = [
            0x6a09_e667,
            0xbb67_ae85,
            0x3c6e_f372,
            0xa54f_f53a,
            0x510e_527f,
            0x9b05_688c,
            0x1f83_d9ab,
            0x5be0_cd19,
        ];
        Self { state, rest: [0; 64], len: 0 }
    }
}

impl Sha256 {
    /// The digest of some bytes, in 64 hexadecimal digits.
    pub fn of(bytes: &[u8]) -> String {
        let mut hash = Self::default();
        hash.add(bytes);
        hash.digits()
    }

    /// The number of bytes so far.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there were no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds bytes to the message.
    pub fn add(&mut self, mut bytes: &[u8]) {
        let filled = (self.len % 64) as usize;
        self.len += bytes.len() as u64;
        if filled > 0 {
            let taken = bytes.len().min(64 - filled);
            self.rest[filled..filled + taken].copy_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
            if filled + taken < 64 {
                return;
            }
            compress(&mut self.state, &self.rest);
        }
        let (blocks, rest) = bytes.as_chunks::<64>();
        blocks.iter().for_each(|block| compress(&mut self.state, block));
        self.rest[..rest.len()].copy_from_slice(rest);
    }

    /// The digest of the message, in 64 hexadecimal digits.
    pub fn digits(mut self) -> String {
        let bits = self.len.wrapping_mul(8);
        let filled = (self.len % 64) as usize;
        let zeros = if filled < 56 { 55 - filled } else { 119 - filled };
        let mut padding = vec![0x80];
        padding.resize(1 + zeros, 0);
        padding.extend(bits.to_be_bytes());
        self.add(&padding);
        self.state.iter().map(|word| format!("{word:08x}")).collect()
    }
}

fn compress(state: &mut [u32; 8], block: &[u8; 64]) {
    let mut w = [0_u32; 64];
    for (word, bytes) in w.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for t in 16..64 {
        let (x, y) = (w[t - 15], w[t - 2]);
        let s0 = x.rotate_right(7) ^ x.rotate_right(18) ^ (x >> 3);
        let s1 = y.rotate_right(17) ^ y.rotate_right(19) ^ (y >> 10);
        w[t] = w[t - 16].wrapping_add(s0).wrapping_add(w[t - 7]).wrapping_add(s1);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (k, w) in K.iter().zip(&w) {
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let t1 = h.wrapping_add(s1).wrapping_add(choice).wrapping_add(*k).wrapping_add(*w);
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = (a & b) ^ (a & c) ^ (b & c);
        (h, g, f, e) = (g, f, e, d.wrapping_add(t1));
        (d, c, b, a) = (c, b, a, t1.wrapping_add(s0.wrapping_add(majority)));
    }
    for (old, new) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *old = old.wrapping_add(new);
    }
}

#[cfg(test)]
mod tests {
    use super::Sha256;

    #[test]
    fn the_examples_of_the_standard() {
        for (text, digest) in [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
        ] {
            assert_eq!(Sha256::of(text.as_bytes()), digest);
        }
        let million = vec![b'a'; 1_000_000];
        let digest = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
        assert_eq!(Sha256::of(&million), digest);
        // In pieces of every size.
        for size in 1..200 {
            let mut hash = Sha256::default();
            million[..5000].chunks(size).for_each(|piece| hash.add(piece));
            assert_eq!(hash.digits(), Sha256::of(&million[..5000]));
        }
    }
}
