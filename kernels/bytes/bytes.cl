// Blends RGBA pixels and mixes 16-bit samples. Exercises: uchar4 and short2 memory,
// byte extraction and packing, conversions with saturation, add_sat, hadd, abs_diff.
kernel void bytes(global const uchar4 *src, global const uchar4 *dst, global uchar4 *out, global const short2 *wave,
                  global short2 *mixed, global uchar *lum, short gain) {
  uint i = get_global_id(0);
  uchar4 s = src[i], d = dst[i];
  ushort alpha = s.w;
  ushort4 blend = convert_ushort4(s) * alpha + convert_ushort4(d) * (ushort)(255 - alpha) + (ushort)127;
  uchar4 o = convert_uchar4(blend / (ushort)255);
  o.w = max(s.w, d.w);
  out[i] = o;

  short2 w = wave[i];
  mixed[i] = add_sat(w, (short2)gain) - (hadd(w, w.yx) >> (short)3) + convert_short2_sat(convert_int2(w) * 3);
  lum[i] = abs_diff(o.x, o.y) ^ (uchar)((o.x * 77 + o.y * 150 + o.z * 29) >> 8);
}
