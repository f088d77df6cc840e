// What a kernel can find out about its launch: the dispatch packet, the queue and the hidden arguments. Each value has
// its own place, and whoever asks for all of them asks for all user SGPRs.
typedef constant const uchar *bytes_t;

// Clang has no name for it.
ulong dispatch_id(void) __asm("llvm.amdgcn.dispatch.id");

static uint u16(bytes_t p, uint at) { return *(constant const ushort *)(p + at); }
static uint u32(bytes_t p, uint at) { return *(constant const uint *)(p + at); }
static ulong u64(bytes_t p, uint at) { return *(constant const ulong *)(p + at); }

// Of work-item (lid 0, 1, 0) of each group: 40 words a group.
kernel void launch(global ulong *out) {
  bytes_t packet = __builtin_amdgcn_dispatch_ptr();
  uint group = get_group_id(0) + 16 * get_group_id(1) + 32 * get_group_id(2);
  if (get_local_id(0) != 0 || get_local_id(1) != 1 || get_local_id(2) != 0)
    return;
  out += group * 40;
  out[0] = dispatch_id();
  out[1] = u16(packet, 0);
  out[2] = u16(packet, 2);
  for (uint d = 0; d < 3; d++) {
    out[3 + d] = u16(packet, 4 + 2 * d);
    out[6 + d] = u32(packet, 12 + 4 * d);
    out[9 + d] = get_group_id(d);
    out[12 + d] = get_global_id(d);
    out[15 + d] = get_global_offset(d);
    out[18 + d] = get_local_size(d);
    out[21 + d] = get_enqueued_local_size(d);
    out[24 + d] = get_num_groups(d);
    out[27 + d] = get_local_id(d);
  }
  out[30] = get_work_dim();
  out[31] = u32(packet, 24);
  out[32] = u32(packet, 28);
  out[33] = u64(packet, 40) == (ulong)__builtin_amdgcn_kernarg_segment_ptr();
#if COV >= 5
  bytes_t hidden = __builtin_amdgcn_implicitarg_ptr();
  // Clang compiles its built-in function to an undefined value here.
  bytes_t queue = (bytes_t)u64(hidden, 200);
  out[36] = u64(hidden, 88); // multigrid_sync_arg
#else
  bytes_t queue = __builtin_amdgcn_queue_ptr();
#endif
  out[34] = u32(queue, 0x40);
  out[35] = u32(queue, 0x44);
}

// Reads the first dword of what a hidden argument points to.
kernel void follow(global uint *out, uint offset) {
  out[0] = *(global uint *)u64((bytes_t)__builtin_amdgcn_implicitarg_ptr(), offset);
}
