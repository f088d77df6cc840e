// A 16-tap filter over one signal a work-item, the last samples kept in a ring of
// registers. Exercises: register arrays with a uniform variable index (v_movrels and
// v_movreld, s_set_gpr_idx on gfx9), scalar loads in a loop, strided memory.
#define TAPS 16

kernel void fir(global const float *in, global float *out, global const float *taps, uint samples) {
  uint id = get_global_id(0), lanes = get_global_size(0);
  float ring[TAPS];
  for (uint k = 0; k < TAPS; k++)
    ring[k] = 0.0f;
  for (uint n = 0; n < samples; n++) {
    ring[n % TAPS] = in[n * lanes + id];
    float sum = 0.0f;
    for (uint k = 0; k < TAPS; k++)
      sum += taps[k] * ring[(n - k) % TAPS];
    out[n * lanes + id] = sum;
  }
}
