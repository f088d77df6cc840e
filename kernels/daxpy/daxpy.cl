// Double precision: y = a*x + y, a norm-like quotient, and the dot product of each
// group. Exercises: f64 fma, division, sqrt, conversions, f64 in LDS.
#define GROUP 64

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
daxpy(global const double *x, global double *y, global double *ratio, global double *dots, double a, uint n) {
  local double tmp[GROUP];
  uint i = get_global_id(0), lane = get_local_id(0);
  double product = 0.0;
  if (i < n) {
    double v = fma(a, x[i], y[i]);
    ratio[i] = (x[i] + (double)i) / sqrt(v * v + 1.0);
    product = x[i] * v;
    y[i] = v;
  }
  tmp[lane] = product;
  for (uint s = GROUP / 2; s > 0; s >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < s)
      tmp[lane] += tmp[lane + s];
  }
  if (lane == 0)
    dots[get_group_id(0)] = tmp[0];
}
