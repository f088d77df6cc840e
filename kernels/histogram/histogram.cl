// 64 bins over bytes. Exercises: LDS atomics with conflicts between lanes, global
// atomics to merge the groups, a grid-stride loop, byte loads.
#define BINS 64

kernel void histogram(global const uchar *data, global uint *bins, uint n) {
  local uint mine[BINS];
  for (uint i = get_local_id(0); i < BINS; i += get_local_size(0))
    mine[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < n; i += get_global_size(0))
    atomic_inc(&mine[data[i] >> 2]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < BINS; i += get_local_size(0))
    atomic_add(&bins[i], mine[i]);
}
