// Waves and powers. Exercises: sin with large arguments, cos, tan, pow, exp2, log2,
// floor, trunc, rint, ldexp, a native_ function.
kernel void trig(global const float *x, global float *s, global float *c, global float *p, global float *q, uint n) {
  uint i = get_global_id(0);
  if (i >= n)
    return;
  float v = x[i];
  s[i] = sin(v * 1000.0f);
  c[i] = cos(v) + tan(v * 0.01f);
  p[i] = pow(fabs(v) + 0.5f, 1.7f) + floor(v) - trunc(v * 0.5f);
  q[i] = native_sin(v * 0.01f) + exp2(v * 0.001f) * log2(fabs(v) + 1.0f) + ldexp(v, 3) + rint(v);
}
