// C = alpha*A*B + beta*C through 16x16 tiles in LDS. Exercises: static LDS, barriers
// in a loop, ds_read/ds_write with offsets, edge tiles padded with zeros.
#define TILE 16

kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
sgemm_tiled(global const float *a, global const float *b, global float *c, uint m, uint n, uint k, float alpha,
            float beta) {
  local float ta[TILE][TILE], tb[TILE][TILE + 1];
  uint x = get_local_id(0), y = get_local_id(1);
  uint col = get_global_id(0), row = get_global_id(1);
  float sum = 0.0f;
  for (uint t = 0; t < k; t += TILE) {
    ta[y][x] = row < m && t + x < k ? a[row * k + t + x] : 0.0f;
    tb[y][x] = col < n && t + y < k ? b[(t + y) * n + col] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < TILE; i++)
      sum += ta[y][i] * tb[i][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < m && col < n)
    c[row * n + col] = alpha * sum + beta * c[row * n + col];
}
