; The smallest pipeline: a triangle over the whole screen in the colours of its corners.

target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"

; v0: the vertex's number. Vertices 0 to 2 are (-1, -1), (3, -1) and (-1, 3); parameter 0 is 1 in the vertex's channel.
define amdgpu_vs void @flat_vs(i32 %vertex) {
  %second = icmp eq i32 %vertex, 1
  %third = icmp eq i32 %vertex, 2
  %first = icmp eq i32 %vertex, 0
  %x = select i1 %second, float 3.0, float -1.0
  %y = select i1 %third, float 3.0, float -1.0
  %r = select i1 %first, float 1.0, float 0.0
  %g = select i1 %second, float 1.0, float 0.0
  %b = select i1 %third, float 1.0, float 0.0
  call void @llvm.amdgcn.exp.f32(i32 12, i32 15, float %x, float %y, float 0.0, float 1.0, i1 true, i1 false)
  call void @llvm.amdgcn.exp.f32(i32 32, i32 15, float %r, float %g, float %b, float 1.0, i1 false, i1 false)
  ret void
}

; s0: what M0 has to be for interpolation. The colour is parameter 0; red below a quarter is discarded.
define amdgpu_ps void @flat_ps(i32 inreg %prim_mask, <2 x float> %sample, <2 x float> %center) #0 {
  %i = extractelement <2 x float> %center, i32 0
  %j = extractelement <2 x float> %center, i32 1
  %r1 = call float @llvm.amdgcn.interp.p1(float %i, i32 0, i32 0, i32 %prim_mask)
  %r = call float @llvm.amdgcn.interp.p2(float %r1, float %j, i32 0, i32 0, i32 %prim_mask)
  %g1 = call float @llvm.amdgcn.interp.p1(float %i, i32 1, i32 0, i32 %prim_mask)
  %g = call float @llvm.amdgcn.interp.p2(float %g1, float %j, i32 1, i32 0, i32 %prim_mask)
  ; The provoking vertex's, and the same in all of the triangle.
  %b = call float @llvm.amdgcn.interp.mov(i32 2, i32 2, i32 0, i32 %prim_mask)
  %kept = fcmp oge float %r, 0.25
  call void @llvm.amdgcn.kill(i1 %kept)
  call void @llvm.amdgcn.exp.f32(i32 0, i32 15, float %r, float %g, float %b, float 1.0, i1 true, i1 true)
  ret void
}

declare void @llvm.amdgcn.exp.f32(i32 immarg, i32 immarg, float, float, float, float, i1 immarg, i1 immarg)
declare float @llvm.amdgcn.interp.p1(float, i32 immarg, i32 immarg, i32)
declare float @llvm.amdgcn.interp.p2(float, float, i32 immarg, i32 immarg, i32)
declare float @llvm.amdgcn.interp.mov(i32 immarg, i32 immarg, i32 immarg, i32)
declare void @llvm.amdgcn.kill(i1)

attributes #0 = { "InitialPSInputAddr"="0" }
