// Half precision, stored and computed. Exercises: 16-bit loads and stores, f16
// conversions, f16 arithmetic where the target has it (packed on gfx9). Each result
// is rounded to half precision once: on gfx6 and gfx7 the compiler keeps what lies
// between in single precision.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL FP_CONTRACT OFF

kernel void half_blend(global const half2 *a, global const half2 *b, global half2 *out, global half *low,
                       global float *wide, float t, uint n) {
  uint i = get_global_id(0);
  if (i >= n)
    return;
  half2 x = a[i], y = b[i];
  half2 d = x < y ? x * y : x - y;
  out[i] = __builtin_elementwise_min(d, (half2)6.5f);
  low[i] = __builtin_elementwise_max(x.x + y.y, -x.y);
  wide[i] = (float)x.x * t + (float)y.y;
}
