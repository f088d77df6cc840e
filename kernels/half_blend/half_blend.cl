// Half precision, stored and computed. Exercises: 16-bit loads and stores, f16
// conversions, f16 arithmetic where the target has it (packed on gfx9).
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL FP_CONTRACT OFF

kernel void half_blend(global const half2 *a, global const half2 *b, global half2 *out, global float *wide, float t,
                       uint n) {
  uint i = get_global_id(0);
  if (i >= n)
    return;
  half2 x = a[i], y = b[i];
  half2 d = x * y + (x - y);
  out[i] = x < y ? d : (half2)(d.x + (half)1.5f, d.y * x.x);
  wide[i] = (float)x.x * t + (float)y.y;
}
