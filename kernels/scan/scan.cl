// Inclusive prefix sums of each group and the groups' totals. Exercises: two LDS
// arrays that swap roles, barriers, neighbours at growing distances, a partial group.
#define GROUP 128

kernel void scan(global const uint *in, global uint *out, global uint *totals) {
  local uint buf[2][GROUP];
  uint lane = get_local_id(0), n = get_local_size(0), cur = 0;
  buf[0][lane] = in[get_global_id(0)];
  for (uint d = 1; d < n; d <<= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    uint v = buf[cur][lane];
    if (lane >= d)
      v += buf[cur][lane - d];
    cur ^= 1;
    buf[cur][lane] = v;
  }
  uint sum = buf[cur][lane];
  out[get_global_id(0)] = sum;
  if (lane == n - 1)
    totals[get_group_id(0)] = sum;
}
