; What examples/triangle draws with: vertices from a buffer through a matrix, and pixels from a texture, or in the colours
; of the vertices.

target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"

; s[0:3]: V# of vertices, eight floats each: position, texture coordinates, colour. s[4:5]: address of a matrix, whose
; columns lie one after the other. v0: the vertex's number.
define amdgpu_vs void @scene_vs(<4 x i32> inreg %vertices, ptr addrspace(4) inreg %matrix, i32 %vertex) {
  %a = call <4 x float> @llvm.amdgcn.struct.buffer.load.format.v4f32(<4 x i32> %vertices, i32 %vertex, i32 0, i32 0, i32 0)
  %b = call <4 x float> @llvm.amdgcn.struct.buffer.load.format.v4f32(<4 x i32> %vertices, i32 %vertex, i32 16, i32 0, i32 0)
  %x = extractelement <4 x float> %a, i32 0
  %y = extractelement <4 x float> %a, i32 1
  %z = extractelement <4 x float> %a, i32 2
  %u = extractelement <4 x float> %a, i32 3
  %v = extractelement <4 x float> %b, i32 0
  %red = extractelement <4 x float> %b, i32 1
  %green = extractelement <4 x float> %b, i32 2
  %blue = extractelement <4 x float> %b, i32 3
  %at1 = getelementptr <4 x float>, ptr addrspace(4) %matrix, i64 1
  %at2 = getelementptr <4 x float>, ptr addrspace(4) %matrix, i64 2
  %at3 = getelementptr <4 x float>, ptr addrspace(4) %matrix, i64 3
  %c0 = load <4 x float>, ptr addrspace(4) %matrix, !invariant.load !0
  %c1 = load <4 x float>, ptr addrspace(4) %at1, !invariant.load !0
  %c2 = load <4 x float>, ptr addrspace(4) %at2, !invariant.load !0
  %c3 = load <4 x float>, ptr addrspace(4) %at3, !invariant.load !0
  %x1 = insertelement <4 x float> poison, float %x, i32 0
  %xs = shufflevector <4 x float> %x1, <4 x float> poison, <4 x i32> zeroinitializer
  %y1 = insertelement <4 x float> poison, float %y, i32 0
  %ys = shufflevector <4 x float> %y1, <4 x float> poison, <4 x i32> zeroinitializer
  %z1 = insertelement <4 x float> poison, float %z, i32 0
  %zs = shufflevector <4 x float> %z1, <4 x float> poison, <4 x i32> zeroinitializer
  %s2 = call <4 x float> @llvm.fmuladd.v4f32(<4 x float> %c2, <4 x float> %zs, <4 x float> %c3)
  %s1 = call <4 x float> @llvm.fmuladd.v4f32(<4 x float> %c1, <4 x float> %ys, <4 x float> %s2)
  %s0 = call <4 x float> @llvm.fmuladd.v4f32(<4 x float> %c0, <4 x float> %xs, <4 x float> %s1)
  %px = extractelement <4 x float> %s0, i32 0
  %py = extractelement <4 x float> %s0, i32 1
  %pz = extractelement <4 x float> %s0, i32 2
  %pw = extractelement <4 x float> %s0, i32 3
  call void @llvm.amdgcn.exp.f32(i32 12, i32 15, float %px, float %py, float %pz, float %pw, i1 true, i1 false)
  call void @llvm.amdgcn.exp.f32(i32 32, i32 3, float %u, float %v, float poison, float poison, i1 false, i1 false)
  call void @llvm.amdgcn.exp.f32(i32 33, i32 15, float %red, float %green, float %blue, float 1.0, i1 false, i1 false)
  ret void
}

; s0: what M0 has to be for interpolation. Colours are those of the vertices, exported in 16 bits.
define amdgpu_ps void @colour_ps(i32 inreg %prim_mask, <2 x float> %sample, <2 x float> %center) #0 {
  %i = extractelement <2 x float> %center, i32 0
  %j = extractelement <2 x float> %center, i32 1
  %r1 = call float @llvm.amdgcn.interp.p1(float %i, i32 0, i32 1, i32 %prim_mask)
  %r = call float @llvm.amdgcn.interp.p2(float %r1, float %j, i32 0, i32 1, i32 %prim_mask)
  %g1 = call float @llvm.amdgcn.interp.p1(float %i, i32 1, i32 1, i32 %prim_mask)
  %g = call float @llvm.amdgcn.interp.p2(float %g1, float %j, i32 1, i32 1, i32 %prim_mask)
  %b1 = call float @llvm.amdgcn.interp.p1(float %i, i32 2, i32 1, i32 %prim_mask)
  %b = call float @llvm.amdgcn.interp.p2(float %b1, float %j, i32 2, i32 1, i32 %prim_mask)
  call void @write(float %r, float %g, float %b)
  ret void
}

; s[0:7]: T# and s[8:11]: S# of the texture, s12: what M0 has to be. The texture times the vertices' colour; where the
; texture's alpha is below a half there is nothing.
define amdgpu_ps void @texture_ps(<8 x i32> inreg %image, <4 x i32> inreg %sampler, i32 inreg %prim_mask, <2 x float> %sample, <2 x float> %center) #0 {
  %i = extractelement <2 x float> %center, i32 0
  %j = extractelement <2 x float> %center, i32 1
  %u1 = call float @llvm.amdgcn.interp.p1(float %i, i32 0, i32 0, i32 %prim_mask)
  %u = call float @llvm.amdgcn.interp.p2(float %u1, float %j, i32 0, i32 0, i32 %prim_mask)
  %v1 = call float @llvm.amdgcn.interp.p1(float %i, i32 1, i32 0, i32 %prim_mask)
  %v = call float @llvm.amdgcn.interp.p2(float %v1, float %j, i32 1, i32 0, i32 %prim_mask)
  %texel = call <4 x float> @llvm.amdgcn.image.sample.2d.v4f32.f32(i32 15, float %u, float %v, <8 x i32> %image, <4 x i32> %sampler, i1 false, i32 0, i32 0)
  %tr = extractelement <4 x float> %texel, i32 0
  %tg = extractelement <4 x float> %texel, i32 1
  %tb = extractelement <4 x float> %texel, i32 2
  %ta = extractelement <4 x float> %texel, i32 3
  %there = fcmp oge float %ta, 0.5
  call void @llvm.amdgcn.kill(i1 %there)
  %r1 = call float @llvm.amdgcn.interp.p1(float %i, i32 0, i32 1, i32 %prim_mask)
  %r2 = call float @llvm.amdgcn.interp.p2(float %r1, float %j, i32 0, i32 1, i32 %prim_mask)
  %g1 = call float @llvm.amdgcn.interp.p1(float %i, i32 1, i32 1, i32 %prim_mask)
  %g2 = call float @llvm.amdgcn.interp.p2(float %g1, float %j, i32 1, i32 1, i32 %prim_mask)
  %b1 = call float @llvm.amdgcn.interp.p1(float %i, i32 2, i32 1, i32 %prim_mask)
  %b2 = call float @llvm.amdgcn.interp.p2(float %b1, float %j, i32 2, i32 1, i32 %prim_mask)
  %r = fmul float %r2, %tr
  %g = fmul float %g2, %tg
  %b = fmul float %b2, %tb
  call void @write(float %r, float %g, float %b)
  ret void
}

define internal void @write(float %r, float %g, float %b) alwaysinline {
  %rg = call <2 x half> @llvm.amdgcn.cvt.pkrtz(float %r, float %g)
  %ba = call <2 x half> @llvm.amdgcn.cvt.pkrtz(float %b, float 1.0)
  call void @llvm.amdgcn.exp.compr.v2f16(i32 0, i32 15, <2 x half> %rg, <2 x half> %ba, i1 true, i1 true)
  ret void
}

declare <4 x float> @llvm.amdgcn.struct.buffer.load.format.v4f32(<4 x i32>, i32, i32, i32, i32 immarg)
declare <4 x float> @llvm.fmuladd.v4f32(<4 x float>, <4 x float>, <4 x float>)
declare <4 x float> @llvm.amdgcn.image.sample.2d.v4f32.f32(i32 immarg, float, float, <8 x i32>, <4 x i32>, i1 immarg, i32 immarg, i32 immarg)
declare <2 x half> @llvm.amdgcn.cvt.pkrtz(float, float)
declare void @llvm.amdgcn.exp.f32(i32 immarg, i32 immarg, float, float, float, float, i1 immarg, i1 immarg)
declare void @llvm.amdgcn.exp.compr.v2f16(i32 immarg, i32 immarg, <2 x half>, <2 x half>, i1 immarg, i1 immarg)
declare float @llvm.amdgcn.interp.p1(float, i32 immarg, i32 immarg, i32)
declare float @llvm.amdgcn.interp.p2(float, float, i32 immarg, i32 immarg, i32)
declare void @llvm.amdgcn.kill(i1)

attributes #0 = { "InitialPSInputAddr"="0" }

!0 = !{}
