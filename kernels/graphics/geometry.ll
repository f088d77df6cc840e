; Interpolation in 16 bits, and the messages of a geometry shader; gfx8 and later.

target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"

; s0: the wave's number for messages. Two vertices, of which the second ends its strip.
define amdgpu_gs void @emit_gs(i32 inreg %wave) {
  call void @llvm.amdgcn.s.sendmsg(i32 34, i32 %wave)
  call void @llvm.amdgcn.s.sendmsg(i32 306, i32 %wave)
  call void @llvm.amdgcn.s.sendmsg(i32 3, i32 %wave)
  ret void
}

; s0: what M0 has to be. The low and the high halves of parameter 0's x.
define amdgpu_ps void @half_ps(i32 inreg %prim_mask, <2 x float> %sample, <2 x float> %center) #0 {
  %i = extractelement <2 x float> %center, i32 0
  %j = extractelement <2 x float> %center, i32 1
  %l1 = call float @llvm.amdgcn.interp.p1.f16(float %i, i32 0, i32 0, i1 false, i32 %prim_mask)
  %l = call half @llvm.amdgcn.interp.p2.f16(float %l1, float %j, i32 0, i32 0, i1 false, i32 %prim_mask)
  %h1 = call float @llvm.amdgcn.interp.p1.f16(float %i, i32 0, i32 0, i1 true, i32 %prim_mask)
  %h = call half @llvm.amdgcn.interp.p2.f16(float %h1, float %j, i32 0, i32 0, i1 true, i32 %prim_mask)
  %lo = fpext half %l to float
  %hi = fpext half %h to float
  call void @llvm.amdgcn.exp.f32(i32 0, i32 3, float %lo, float %hi, float poison, float poison, i1 true, i1 true)
  ret void
}

declare void @llvm.amdgcn.s.sendmsg(i32 immarg, i32)
declare void @llvm.amdgcn.exp.f32(i32 immarg, i32 immarg, float, float, float, float, i1 immarg, i1 immarg)
declare float @llvm.amdgcn.interp.p1.f16(float, i32 immarg, i32 immarg, i1 immarg, i32)
declare half @llvm.amdgcn.interp.p2.f16(float, float, i32 immarg, i32 immarg, i1 immarg, i32)

attributes #0 = { "InitialPSInputAddr"="0" }
