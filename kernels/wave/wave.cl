// Sums and shuffles inside a wavefront of 64. Exercises: DPP rows and broadcasts and
// ds_bpermute where the target has them (gfx8 on), ds_swizzle and LDS elsewhere,
// readlane. Every target computes the same.
#if defined(__gfx600__) || defined(__gfx700__)
#define OLD 1
#else
#define OLD 0
#endif

static uint wave_sum(uint x) {
#if OLD
  x += __builtin_amdgcn_ds_swizzle(x, 0x041f); // lane ^ 1
  x += __builtin_amdgcn_ds_swizzle(x, 0x081f);
  x += __builtin_amdgcn_ds_swizzle(x, 0x101f);
  x += __builtin_amdgcn_ds_swizzle(x, 0x201f);
  x += __builtin_amdgcn_ds_swizzle(x, 0x401f); // lane ^ 16
  return __builtin_amdgcn_readlane(x, 0) + __builtin_amdgcn_readlane(x, 32);
#else
  x += __builtin_amdgcn_update_dpp(0, x, 0x111, 0xf, 0xf, false); // row_shr:1
  x += __builtin_amdgcn_update_dpp(0, x, 0x112, 0xf, 0xf, false);
  x += __builtin_amdgcn_update_dpp(0, x, 0x114, 0xf, 0xf, false);
  x += __builtin_amdgcn_update_dpp(0, x, 0x118, 0xf, 0xf, false);
  x += __builtin_amdgcn_update_dpp(0, x, 0x142, 0xa, 0xf, false); // row_bcast:15
  x += __builtin_amdgcn_update_dpp(0, x, 0x143, 0xc, 0xf, false); // row_bcast:31
  return __builtin_amdgcn_readlane(x, 63);
#endif
}

// Lane i receives x of lane from % 64.
static uint shuffle(uint x, uint from, local uint *tmp) {
#if OLD
  uint lane = get_local_id(0) & 63;
  barrier(CLK_LOCAL_MEM_FENCE);
  tmp[lane] = x;
  barrier(CLK_LOCAL_MEM_FENCE);
  return tmp[from & 63];
#else
  return __builtin_amdgcn_ds_bpermute(from << 2, x);
#endif
}

// The neighbours' values inside each group of four lanes, in reverse order.
static uint quad_reverse(uint x) {
#if OLD
  return __builtin_amdgcn_ds_swizzle(x, 0x801b); // quad_perm:[3,2,1,0]
#else
  return __builtin_amdgcn_mov_dpp(x, 0x1b, 0xf, 0xf, true);
#endif
}

kernel __attribute__((reqd_work_group_size(64, 1, 1))) void
wave(global const uint *in, global uint *sums, global uint *shuffled, global uint *quads) {
  local uint tmp[64];
  uint i = get_global_id(0), x = in[i];
  uint sum = wave_sum(x);
  if (get_local_id(0) == 0)
    sums[get_group_id(0)] = sum;
  shuffled[i] = shuffle(x, x >> 5, tmp) - shuffle(x, i * 7 + 3, tmp);
  quads[i] = quad_reverse(x) ^ sum;
}
