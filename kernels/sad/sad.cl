// Block matching in grey images: for each 4x4 block of the new image, the offset in
// the old one with the least sum of absolute differences. Exercises: v_sad_u8,
// unaligned words put together from aligned ones (v_alignbyte), bytes to floats
// (v_cvt_f32_ubyte), packed results, nested uniform loops.
kernel void sad(global const uint *now, global const uint *before, global uint *best, global float *mean,
                uint words, int reach) {
  uint bx = get_global_id(0), by = get_global_id(1), blocks = get_global_size(0);
  uint least = ~0u, margin = reach;
  global const uint *block = now + (by * 4 + margin) * words + bx + 1;
  for (uint dy = 0; dy <= 2 * margin; dy++) {
    for (uint dx = 0; dx < 8; dx++) {
      uint sum = 0;
      for (uint y = 0; y < 4; y++) {
        global const uint *row = before + (by * 4 + y + dy) * words + bx + dx / 4;
        uint old = __builtin_amdgcn_alignbyte(row[1], row[0], dx & 3);
        sum = __builtin_amdgcn_sad_u8(block[y * words], old, sum);
      }
      least = min(least, sum << 16 | dy << 8 | dx);
    }
  }
  best[by * blocks + bx] = least;
  float total = 0.0f;
  for (uint y = 0; y < 4; y++) {
    uchar4 p = as_uchar4(block[y * words]);
    total += (float)p.x + (float)p.y + (float)p.z + (float)p.w;
  }
  mean[by * blocks + bx] = total / 16.0f;
}
