// C = A*B, one work-item an element. Exercises: a two-dimensional grid, a uniform
// loop with strided and broadcast loads, partial groups in both dimensions.
kernel void sgemm_naive(global const float *a, global const float *b, global float *c, uint m, uint n, uint k) {
  uint col = get_global_id(0), row = get_global_id(1);
  if (row >= m || col >= n)
    return;
  float sum = 0.0f;
  for (uint i = 0; i < k; i++)
    sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}
