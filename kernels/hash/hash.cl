// Mixes integers. Exercises: xorshift, rotates by a different amount in each lane,
// 32-bit multiplies, bit counts, bit reversal by hand, a uniform loop.
kernel void hash(global const uint *in, global uint *out, uint rounds, uint seed) {
  uint i = get_global_id(0);
  uint x = in[i] ^ seed, r = i;
  for (uint n = 0; n < rounds; n++) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    x = rotate(x, r) * 0x9e3779b1u + (x >> (r & 15));
    r = (r * 5 + popcount(x)) & 31;
    x += mul_hi(x, 0x85ebca6bu) ^ clz(x | 1);
    x = bitselect(x, ~r, 0x00ff00f0u);
  }
  x = (x >> 16) | (x << 16);
  out[i] = ((x & 0xff00ff00u) >> 8) | ((x & 0x00ff00ffu) << 8);
}
