// Keeps the values above a threshold, in order within each wavefront's 64 slots.
// Exercises: ballots, mbcnt, readfirstlane, readlane, population counts of masks, a
// gather through the LDS crossbar: what is visible only when lanes act together.
kernel __attribute__((reqd_work_group_size(128, 1, 1))) void
compact(global const uint *in, global uint *out, global uint *kept, global uint *firsts, uint threshold) {
  uint i = get_global_id(0), wave = i / 64;
  uint x = in[i];
  bool keep = x > threshold;
  ulong mask = __builtin_amdgcn_ballot_w64(keep);
  uint below = __builtin_amdgcn_mbcnt_hi(mask >> 32, __builtin_amdgcn_mbcnt_lo(mask, 0));
  uint count = __builtin_popcountl(mask);
  if (keep)
    out[wave * 64 + below] = x;
  uint pair = __builtin_amdgcn_ds_swizzle(x, 0x041f); // the neighbour's: lane ^ 1
  uint last = __builtin_amdgcn_readlane(x, 63);
  firsts[i] = keep ? pair + __builtin_amdgcn_readfirstlane(x) : last;
  if (below == count && !keep)
    atomic_inc(&kept[wave * 2 + 1]); // those dropped after the last one kept
  if (__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)) == 0)
    kept[wave * 2] = count;
}
