// One sum for each work-group. Exercises: dynamic LDS, a barrier in a loop that
// halves the active lanes, and a partial last group of an odd size.
kernel void reduction(global const float *x, global float *sums, local float *tmp) {
  uint lane = get_local_id(0), n = get_local_size(0);
  tmp[lane] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  while (n > 1) {
    uint half_up = (n + 1) / 2;
    if (lane < n - half_up)
      tmp[lane] += tmp[lane + half_up];
    barrier(CLK_LOCAL_MEM_FENCE);
    n = half_up;
  }
  if (lane == 0)
    sums[get_group_id(0)] = tmp[0];
}
