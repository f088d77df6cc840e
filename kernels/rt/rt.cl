// The device side of OpenCL C that a runtime library usually supplies: work-item
// functions, barriers and atomics, written over clang's amdgcn builtins.
//
// Compiled as OpenCL C 2.0 for the kernel's target and linked before libclc,
// whose own versions of these functions assume another argument layout and have
// no compiler fences. COV is the code object version (3, 4 or 5): from 5 on the
// sizes come from the hidden arguments, before that from the dispatch packet.

#define RT __attribute__((overloadable))
#define RT_CONST __attribute__((overloadable, const))

typedef constant const uchar *bytes_t;

static inline uint rt_u16(bytes_t p, uint at) { return *(constant const ushort *)(p + at); }
static inline uint rt_u32(bytes_t p, uint at) { return *(constant const uint *)(p + at); }
static inline ulong rt_u64(bytes_t p, uint at) { return *(constant const ulong *)(p + at); }
static inline bytes_t rt_hidden(void) { return (bytes_t)__builtin_amdgcn_implicitarg_ptr(); }
static inline bytes_t rt_packet(void) { return (bytes_t)__builtin_amdgcn_dispatch_ptr(); }

RT_CONST size_t get_local_id(uint d) {
  switch (d) {
  case 0: return __builtin_amdgcn_workitem_id_x();
  case 1: return __builtin_amdgcn_workitem_id_y();
  case 2: return __builtin_amdgcn_workitem_id_z();
  default: return 0;
  }
}

RT_CONST size_t get_group_id(uint d) {
  switch (d) {
  case 0: return __builtin_amdgcn_workgroup_id_x();
  case 1: return __builtin_amdgcn_workgroup_id_y();
  case 2: return __builtin_amdgcn_workgroup_id_z();
  default: return 0;
  }
}

RT_CONST size_t get_global_size(uint d) { return d < 3 ? rt_u32(rt_packet(), 12 + 4 * d) : 1; }

#if COV >= 5

RT_CONST uint get_work_dim(void) { return rt_u16(rt_hidden(), 64); }
RT_CONST size_t get_global_offset(uint d) { return d < 3 ? rt_u64(rt_hidden(), 40 + 8 * d) : 0; }
RT_CONST size_t get_enqueued_local_size(uint d) { return d < 3 ? rt_u16(rt_hidden(), 12 + 2 * d) : 1; }

// hidden_block_count counts whole groups; what is left over is hidden_remainder.
RT_CONST size_t get_local_size(uint d) {
  if (d >= 3)
    return 1;
  bool whole = get_group_id(d) < rt_u32(rt_hidden(), 4 * d);
  return rt_u16(rt_hidden(), (whole ? 12 : 18) + 2 * d);
}

RT_CONST size_t get_num_groups(uint d) {
  return d < 3 ? rt_u32(rt_hidden(), 4 * d) + (rt_u16(rt_hidden(), 18 + 2 * d) != 0) : 1;
}

#else

RT_CONST uint get_work_dim(void) { return rt_u16(rt_packet(), 2) & 3; }
RT_CONST size_t get_global_offset(uint d) { return d < 3 ? rt_u64(rt_hidden(), 8 * d) : 0; }
RT_CONST size_t get_enqueued_local_size(uint d) { return d < 3 ? rt_u16(rt_packet(), 4 + 2 * d) : 1; }

RT_CONST size_t get_local_size(uint d) {
  uint group = get_enqueued_local_size(d);
  uint left = (uint)get_global_size(d) - (uint)get_group_id(d) * group;
  return left < group ? left : group;
}

RT_CONST size_t get_num_groups(uint d) {
  uint group = get_enqueued_local_size(d);
  return ((uint)get_global_size(d) + group - 1) / group;
}

#endif

RT_CONST size_t get_global_id(uint d) {
  return get_global_offset(d) + (uint)(get_group_id(d) * get_enqueued_local_size(d) + get_local_id(d));
}

// The fences keep the compiler from moving memory accesses over the barrier and
// make it wait for those under way.
__attribute__((overloadable, convergent)) void barrier(cl_mem_fence_flags flags) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

RT void mem_fence(cl_mem_fence_flags flags) { __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup"); }

#define FETCH(NAME, OP, AS, T)                                                                                  \
  RT T NAME(volatile AS T *p, T v) {                                                                            \
    return OP((volatile AS atomic_##T *)p, v, memory_order_relaxed, memory_scope_device);                        \
  }
#define STEP(NAME, OP, AS, T)                                                                                   \
  RT T NAME(volatile AS T *p) {                                                                                 \
    return OP((volatile AS atomic_##T *)p, 1, memory_order_relaxed, memory_scope_device);                        \
  }
#define CMPXCHG(NAME, AS, T)                                                                                    \
  RT T NAME(volatile AS T *p, T old, T v) {                                                                     \
    __opencl_atomic_compare_exchange_strong((volatile AS atomic_##T *)p, &old, v, memory_order_relaxed,          \
                                            memory_order_relaxed, memory_scope_device);                         \
    return old;                                                                                                 \
  }
// PREFIX is atomic_ for 32 bits, atom_ for 64 bits.
#define ATOMICS(PREFIX, AS, T)                                                                                  \
  FETCH(PREFIX##add, __opencl_atomic_fetch_add, AS, T)                                                          \
  FETCH(PREFIX##sub, __opencl_atomic_fetch_sub, AS, T)                                                          \
  FETCH(PREFIX##and, __opencl_atomic_fetch_and, AS, T)                                                          \
  FETCH(PREFIX##or, __opencl_atomic_fetch_or, AS, T)                                                            \
  FETCH(PREFIX##xor, __opencl_atomic_fetch_xor, AS, T)                                                          \
  FETCH(PREFIX##min, __opencl_atomic_fetch_min, AS, T)                                                          \
  FETCH(PREFIX##max, __opencl_atomic_fetch_max, AS, T)                                                          \
  FETCH(PREFIX##xchg, __opencl_atomic_exchange, AS, T)                                                          \
  STEP(PREFIX##inc, __opencl_atomic_fetch_add, AS, T)                                                           \
  STEP(PREFIX##dec, __opencl_atomic_fetch_sub, AS, T)                                                           \
  CMPXCHG(PREFIX##cmpxchg, AS, T)

ATOMICS(atomic_, global, int)
ATOMICS(atomic_, global, uint)
ATOMICS(atomic_, local, int)
ATOMICS(atomic_, local, uint)
ATOMICS(atom_, global, long)
ATOMICS(atom_, global, ulong)
ATOMICS(atom_, local, long)
ATOMICS(atom_, local, ulong)
