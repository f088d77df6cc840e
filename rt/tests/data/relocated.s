// Code object with relocations and without metadata: clang -target amdgcn-amd-amdhsa -mcpu=gfx900
// -mcode-object-version=4 -c relocated.s -o relocated.o && ld.lld -shared relocated.o -o relocated.co
.amdgcn_target "amdgcn-amd-amdhsa--gfx900"
.amdhsa_code_object_version 4
.text
.globl k
.p2align 8
.type k,@function
k:
  s_endpgm
.Lend:
.size k, .Lend-k
.globl helper
.type helper,@function
helper:
  s_setpc_b64 s[30:31]
.data
.p2align 3
.globl table
table:
  .quad helper
  .quad k+4
.Llocal:
  .quad .Llocal
.section .rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 8
.end_amdhsa_kernel
