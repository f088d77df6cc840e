// Above a limit, a sample grows four times as slowly: the kernel of docs/differential-testing.md.
kernel void soften(global const float *x, global float *y, float limit, uint n) {
  uint i = get_global_id(0);
  if (i >= n)
    return;
  float v = x[i];
  float size = fabs(v);
  float knee = limit + (size - limit) * 0.25f;
  if (size > limit)
    v = copysign(knee, v);
  y[i] = v;
}
