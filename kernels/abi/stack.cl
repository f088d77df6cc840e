// Calls whose depth and target only the run knows: recursion in one and in two functions, function pointers that
// differ from lane to lane, an array in the caller's frame, arguments on the stack.
//
// std: CL1.2
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
#define NOINLINE __attribute__((noinline))

static NOINLINE uint add(uint a, uint b) { return a + b; }
static NOINLINE uint multiply(uint a, uint b) { return a * b; }
static NOINLINE uint turn(uint a, uint b) { return (a << 5 | a >> 27) ^ b; }

static NOINLINE uint fibonacci(uint n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

static NOINLINE uint is_odd(uint n);
static NOINLINE uint is_even(uint n) { return n == 0 ? 1 : is_odd(n - 1); }
static NOINLINE uint is_odd(uint n) { return n == 0 ? 0 : is_even(n - 1); }

static NOINLINE uint sum_down(uint n) {
  volatile uint frame[4];
  frame[n & 3] = n;
  return n == 0 ? 0 : sum_down(n - 1) + frame[n & 3];
}

// More arguments than there are registers for them: 40 are 5 uint8.
static NOINLINE uint many(uint8 a, uint8 b, uint8 c, uint8 d, uint8 e) {
  uint8 s = a + 2 * b + 3 * c + 4 * d + 5 * e;
  return s.s0 + s.s1 + s.s2 + s.s3 + s.s4 + s.s5 + s.s6 + s.s7;
}

kernel void stack(global const uint *in, global uint *out, uint n) {
  uint i = get_global_id(0), x = in[i];
  // Through a pointer: clang knows no type that a variable for it could have.
  uint result = (x % 3 == 0 ? add : x % 3 == 1 ? multiply : turn)(x, i);
  result += fibonacci(x % 10) * 3;
  result += is_even(x % 7) * 1000;
  result += sum_down(x % 20) * 7;
  uint values[32];
  for (uint k = 0; k < n; k++)
    values[k] = k * x;
  for (uint k = 0; k < n; k++)
    result = result * 3 + values[(k + x) % n];
  if (x & 4)
    result ^= many((uint8)(x), (uint8)(i), (uint8)(x, i, 1, 2, 3, 4, 5, 6), (uint8)(n), (uint8)(7));
  out[i] = result;
}

// As deep as it is told.
kernel void dive(global uint *out, uint depth) { out[get_global_id(0)] = sum_down(depth); }
