// What the compiler never asks for: the size of scratch in an SGPR, and the work-group information. Every user SGPR
// that a descriptor can enable is enabled here, and all are stored; then the system SGPRs and the VGPRs.
// TARGET, FLAT_SCRATCH (1 where there is such a register) and GFX9 are set by build.sh.

.text
.globl registers
.p2align 8
.type registers,@function
registers:
  // s[0:3] scratch V#, s[4:5] packet, s[6:7] queue, s[8:9] kernarg, s[10:11] dispatch id,
  // s[12:13] flat scratch init, s14 scratch size, s15 to s17 work-group, s18 information, s19 offset in scratch
  s_load_dwordx2 s[20:21], s[8:9], 0x0
  v_mov_b32 v10, v0
  s_waitcnt lgkmcnt(0)
  // out + 128 * (64 * information's ordinal: waves count down) is the host's to find: one wave a group
  s_lshl_b32 s22, s15, 8
  s_add_u32 s20, s20, s22
  s_addc_u32 s21, s21, 0
  s_mov_b32 s22, -1
.if GFX9
  s_mov_b32 s23, 0x27000
.else
  s_mov_b32 s23, 0xf000
.endif
  s_mov_b64 exec, 1
.macro put register, place
  v_mov_b32 v3, \register
  buffer_store_dword v3, off, s[20:23], 0 offset:\place
.endm
  put s0, 0
  put s1, 4
  put s2, 8
  put s3, 12
  put s4, 16
  put s5, 20
  put s6, 24
  put s7, 28
  put s8, 32
  put s9, 36
  put s10, 40
  put s11, 44
  put s12, 48
  put s13, 52
  put s14, 56
  put s15, 60
  put s16, 64
  put s17, 68
  put s18, 72
  put s19, 76
  s_mov_b64 exec, 0x200000
  put v0, 80
  put v1, 84
  put v2, 88
  s_endpgm
.Lend:
.size registers, .Lend-registers

.rodata
.p2align 6
.amdhsa_kernel registers
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_user_sgpr_dispatch_ptr 1
  .amdhsa_user_sgpr_queue_ptr 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_dispatch_id 1
  .amdhsa_user_sgpr_flat_scratch_init 1
  .amdhsa_user_sgpr_private_segment_size 1
  .amdhsa_system_sgpr_private_segment_wavefront_offset 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_sgpr_workgroup_id_y 1
  .amdhsa_system_sgpr_workgroup_id_z 1
  .amdhsa_system_sgpr_workgroup_info 1
  .amdhsa_system_vgpr_workitem_id 2
  .amdhsa_private_segment_fixed_size 20
  .amdhsa_group_segment_fixed_size 512
  .amdhsa_kernarg_size 8
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 32
.end_amdhsa_kernel

.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: registers
    .symbol: registers.kd
    .kernarg_segment_size: 8
    .group_segment_fixed_size: 512
    .private_segment_fixed_size: 20
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 16
    .max_flat_workgroup_size: 1024
    .args:
      - .offset: 0
        .size: 8
        .value_kind: global_buffer
        .address_space: global
...
.end_amdgpu_metadata
