// A five-point heat step between two grids that swap roles with each launch.
// Exercises: clamped neighbour addresses (min/max), a uniform pointer select, a
// launch index argument.
kernel void stencil5(global float *a, global float *b, uint width, uint height, float k, uint launch) {
  global const float *from = launch & 1 ? b : a;
  global float *to = launch & 1 ? a : b;
  int x = get_global_id(0), y = get_global_id(1), w = width, h = height;
  int left = max(x - 1, 0), right = min(x + 1, w - 1), up = max(y - 1, 0), down = min(y + 1, h - 1);
  float here = from[y * w + x];
  float around = from[y * w + left] + from[y * w + right] + from[up * w + x] + from[down * w + x];
  to[y * w + x] = here + k * (around - 4.0f * here);
}
