// Functions that are not inlined. Exercises: s_swappc and s_setpc, the stack in
// scratch memory, registers saved across calls (v_writelane), calls under a
// divergent EXEC, several calls to one function.
static __attribute__((noinline)) uint gcd(uint a, uint b) {
  while (b != 0) {
    uint r = a % b;
    a = b;
    b = r;
  }
  return a;
}

static __attribute__((noinline)) void spread(uint x, private uint *out, uint n) {
  for (uint i = 0; i < n; i++)
    out[(x >> i) & 31] += gcd(x, i + 2);
}

static __attribute__((noinline)) uint total(private const uint *values, uint n) {
  uint sum = 0;
  for (uint i = 0; i < n; i++)
    sum = sum * 3 + values[i];
  return sum;
}

kernel void calls(global const uint *in, global uint *out, uint n) {
  uint i = get_global_id(0), x = in[i];
  uint counts[32];
  for (uint k = 0; k < 32; k++)
    counts[k] = k;
  spread(x, counts, n);
  uint result = total(counts, 32);
  if (x & 1)
    result += gcd(x, 360360) + total(counts + (x & 15), 16);
  out[i] = result;
}
