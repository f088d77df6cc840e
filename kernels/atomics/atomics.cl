// All lanes meet on few addresses. Exercises: global atomics without and with a
// result, compare-and-swap loops, 64-bit atomics, LDS minimum and maximum. Every
// operation commutes, so the outcome does not depend on the order.
kernel void atomics(global const int *in, global int *cells, global ulong *wide, global float *best,
                    global uint *tickets, uint slots) {
  local int low, high;
  uint i = get_global_id(0), slot = i % slots;
  int x = in[i];
  if (get_local_id(0) == 0) {
    low = INT_MAX;
    high = INT_MIN;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_min(&low, x);
  atomic_max(&high, x);
  atomic_add(&cells[slot], x);
  atomic_xor(&cells[slots + slot], x);
  atomic_or(&cells[2 * slots + slot], x & 0xfff);
  atom_add(&wide[slot], (ulong)(long)x * 0x100000001ul);
  atom_max(&wide[slots + slot], (ulong)(uint)x << 20);

  uint ticket = atomic_inc(&tickets[slot]); // a permutation: summed, it is order-free
  atomic_add(&tickets[slots + slot], ticket * ticket);

  global volatile int *cell = (global volatile int *)&best[slot];
  float mine = (float)x * 0.5f;
  int old = as_int(best[slot]);
  while (mine > as_float(old)) {
    int seen = atomic_cmpxchg(cell, old, as_int(mine));
    if (seen == old)
      break;
    old = seen;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    atomic_min(&cells[3 * slots], low);
    atomic_max(&cells[3 * slots + 1], high);
  }
}
