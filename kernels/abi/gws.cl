// Waves of all work-groups meet by global wave sync, as the device library of ROCm has them do it: the counter of
// resource 0 is set by a launch before, and one wave of each work-group comes to the barrier, with the number of the
// others. A semaphore, resource 1, lets work-groups through one by one, or several at a time.

kernel void set_barrier(uint others) { __builtin_amdgcn_ds_gws_init(others, 0); }

kernel void release(uint count) { __builtin_amdgcn_ds_gws_sema_br(count, 1); }

static void grid_barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
  __builtin_amdgcn_s_barrier();
  if (get_local_id(0) == 0)
    __builtin_amdgcn_ds_gws_barrier((uint)get_num_groups(0) - 1, 0);
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}

// In each round a work-group says something, and hears what all say.
kernel void meet(global volatile uint *said, global uint *heard, uint rounds) {
  uint group = get_group_id(0), groups = get_num_groups(0);
  for (uint round = 0; round < rounds; round++) {
    if (get_local_id(0) == 0)
      said[group] = round * 1000 + group * group;
    grid_barrier();
    uint sum = 0;
    for (uint i = 0; i < groups; i++)
      sum += said[i];
    heard[round * get_global_size(0) + get_global_id(0)] = sum;
    grid_barrier();
  }
}

// A read and a write that are no atomic operation: increments would be lost if two were here at a time.
kernel void count(global volatile uint *total, uint steps) {
  if (get_local_id(0) != 0)
    return;
  for (uint step = 0; step < steps; step++) {
    __builtin_amdgcn_ds_gws_sema_p(1);
    uint before = *total;
    for (uint i = 0; i < 20; i++)
      total[1] = i;
    *total = before + 1;
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
    __builtin_amdgcn_ds_gws_sema_v(1);
  }
}

// Waits for the semaphore, which a later launch or another work-group has to release.
kernel void wait(global uint *passed) {
  if (get_local_id(0) == 0) {
    __builtin_amdgcn_ds_gws_sema_p(1);
    atomic_inc(passed);
  }
}
