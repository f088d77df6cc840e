// Escape counts. Exercises: a divergent loop whose lanes leave one by one, and
// separately rounded multiply and add: an executor that fuses them counts wrong.
#pragma OPENCL FP_CONTRACT OFF

kernel void mandelbrot(global uint *count, uint width, float left, float top, float step, uint limit) {
  uint px = get_global_id(0), py = get_global_id(1);
  float cx = left + step * (float)px, cy = top + step * (float)py;
  float x = 0.0f, y = 0.0f;
  uint n = 0;
  while (n < limit && x * x + y * y <= 4.0f) {
    float next = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next;
    n++;
  }
  count[py * width + px] = n;
}
