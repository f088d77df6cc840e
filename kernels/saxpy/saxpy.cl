// y = a*x + y. Exercises: kernel arguments, the work-item index, a bounds check
// under EXEC, one multiply-add, coalesced loads and stores.
kernel void saxpy(global const float *x, global float *y, float a, uint n) {
  uint i = get_global_id(0);
  if (i < n)
    y[i] = a * x[i] + y[i];
}
