// Pointers that are to global memory, LDS or scratch, which only the run knows. gfx6 has no such.
#define NOINLINE __attribute__((noinline))

static NOINLINE uint weigh(uint *p, uint n) {
  uint sum = 0;
  for (uint i = 0; i < n; i++)
    sum += p[i] * (i + 1);
  p[0] = sum;
  return sum;
}

kernel void flat(global uint *out, global uint *work) {
  local uint shared[64];
  uint own[8], i = get_global_id(0), l = get_local_id(0);
  for (uint k = 0; k < 8; k++)
    own[k] = k + i;
  shared[l] = i * 3;
  uint *p = work + i;
  if (i % 3 == 1)
    p = own;
  else if (i % 3 == 2)
    p = shared + l;
  uint sum = weigh(p, i % 3 == 1 ? 8 : 1);
  uint kind = __builtin_amdgcn_is_shared(p) + 2 * __builtin_amdgcn_is_private(p);
  out[i] = sum + own[0] + shared[l] + work[i] + 1000000 * kind;
}

kernel void flat_atomic(global uint *out, global uint *counter) {
  local uint shared;
  if (get_local_id(0) == 0)
    shared = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint *p = get_global_id(0) & 1 ? (uint *)&shared : (uint *)counter;
  __opencl_atomic_fetch_add((atomic_uint *)p, get_local_id(0), memory_order_relaxed, memory_scope_device);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = shared;
}
