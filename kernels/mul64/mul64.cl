// 64-bit integers. Exercises: carries, mul_hi, variable 64-bit shifts and rotates,
// comparisons, signed and unsigned division by a variable.
kernel void mul64(global const ulong *a, global const ulong *b, global ulong *out, global long *quot, uint rounds) {
  uint i = get_global_id(0);
  ulong x = a[i], y = b[i];
  for (uint n = 0; n < rounds; n++) {
    ulong lo = x * y, hi = mul_hi(x, y);
    x = rotate(lo, y & 63) + hi;
    y = (y >> (x & 31)) ^ (lo << (hi & 15));
    if (x < y)
      y -= x;
  }
  out[i] = x ^ (y % ((a[i] >> 20) | 1));
  quot[i] = (long)x / ((long)y >> 40 | 1);
}
