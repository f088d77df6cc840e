; The image functions that images.cl calls, by the names that clang gives them. An image is the address of its
; descriptor (T#), a sampler that of its own (S#).

define <4 x float> @_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_f(ptr addrspace(4) %image, ptr addrspace(4) %sampler, <2 x float> %at) alwaysinline {
  %t = load <8 x i32>, ptr addrspace(4) %image, align 16, !invariant.load !0
  %s = load <4 x i32>, ptr addrspace(4) %sampler, align 16, !invariant.load !0
  %x = extractelement <2 x float> %at, i32 0
  %y = extractelement <2 x float> %at, i32 1
  %texel = call <4 x float> @llvm.amdgcn.image.sample.lz.2d.v4f32.f32(i32 15, float %x, float %y, <8 x i32> %t, <4 x i32> %s, i1 false, i32 0, i32 0)
  ret <4 x float> %texel
}

define <4 x float> @_Z11read_imagef14ocl_image3d_ro11ocl_samplerDv4_f(ptr addrspace(4) %image, ptr addrspace(4) %sampler, <4 x float> %at) alwaysinline {
  %t = load <8 x i32>, ptr addrspace(4) %image, align 16, !invariant.load !0
  %s = load <4 x i32>, ptr addrspace(4) %sampler, align 16, !invariant.load !0
  %x = extractelement <4 x float> %at, i32 0
  %y = extractelement <4 x float> %at, i32 1
  %z = extractelement <4 x float> %at, i32 2
  %texel = call <4 x float> @llvm.amdgcn.image.sample.lz.3d.v4f32.f32(i32 15, float %x, float %y, float %z, <8 x i32> %t, <4 x i32> %s, i1 false, i32 0, i32 0)
  ret <4 x float> %texel
}

define <4 x i32> @_Z12read_imageui14ocl_image2d_roDv2_i(ptr addrspace(4) %image, <2 x i32> %at) alwaysinline {
  %t = load <8 x i32>, ptr addrspace(4) %image, align 16, !invariant.load !0
  %x = extractelement <2 x i32> %at, i32 0
  %y = extractelement <2 x i32> %at, i32 1
  %texel = call <4 x float> @llvm.amdgcn.image.load.2d.v4f32.i32(i32 15, i32 %x, i32 %y, <8 x i32> %t, i32 0, i32 0)
  %bits = bitcast <4 x float> %texel to <4 x i32>
  ret <4 x i32> %bits
}

define void @_Z12write_imagef14ocl_image2d_woDv2_iDv4_f(ptr addrspace(4) %image, <2 x i32> %at, <4 x float> %texel) alwaysinline {
  %t = load <8 x i32>, ptr addrspace(4) %image, align 16, !invariant.load !0
  %x = extractelement <2 x i32> %at, i32 0
  %y = extractelement <2 x i32> %at, i32 1
  call void @llvm.amdgcn.image.store.2d.v4f32.i32(<4 x float> %texel, i32 15, i32 %x, i32 %y, <8 x i32> %t, i32 0, i32 0)
  ret void
}

define void @_Z13write_imageui14ocl_image2d_woDv2_iDv4_j(ptr addrspace(4) %image, <2 x i32> %at, <4 x i32> %bits) alwaysinline {
  %texel = bitcast <4 x i32> %bits to <4 x float>
  call void @_Z12write_imagef14ocl_image2d_woDv2_iDv4_f(ptr addrspace(4) %image, <2 x i32> %at, <4 x float> %texel)
  ret void
}

define i32 @_Z15get_image_width14ocl_image2d_ro(ptr addrspace(4) %image) alwaysinline {
  %size = call <2 x i32> @size(ptr addrspace(4) %image)
  %width = extractelement <2 x i32> %size, i32 0
  ret i32 %width
}

define i32 @_Z15get_image_width14ocl_image2d_wo(ptr addrspace(4) %image) alwaysinline {
  %size = call <2 x i32> @size(ptr addrspace(4) %image)
  %width = extractelement <2 x i32> %size, i32 0
  ret i32 %width
}

define i32 @_Z16get_image_height14ocl_image2d_ro(ptr addrspace(4) %image) alwaysinline {
  %size = call <2 x i32> @size(ptr addrspace(4) %image)
  %height = extractelement <2 x i32> %size, i32 1
  ret i32 %height
}

define i32 @_Z16get_image_height14ocl_image2d_wo(ptr addrspace(4) %image) alwaysinline {
  %size = call <2 x i32> @size(ptr addrspace(4) %image)
  %height = extractelement <2 x i32> %size, i32 1
  ret i32 %height
}

define internal <2 x i32> @size(ptr addrspace(4) %image) alwaysinline {
  %t = load <8 x i32>, ptr addrspace(4) %image, align 16, !invariant.load !0
  %size = call <2 x float> @llvm.amdgcn.image.getresinfo.2d.v2f32.i32(i32 3, i32 0, <8 x i32> %t, i32 0, i32 0)
  %bits = bitcast <2 x float> %size to <2 x i32>
  ret <2 x i32> %bits
}

declare <4 x float> @llvm.amdgcn.image.sample.lz.2d.v4f32.f32(i32, float, float, <8 x i32>, <4 x i32>, i1, i32, i32)
declare <4 x float> @llvm.amdgcn.image.sample.lz.3d.v4f32.f32(i32, float, float, float, <8 x i32>, <4 x i32>, i1, i32, i32)
declare <4 x float> @llvm.amdgcn.image.load.2d.v4f32.i32(i32, i32, i32, <8 x i32>, i32, i32)
declare void @llvm.amdgcn.image.store.2d.v4f32.i32(<4 x float>, i32, i32, i32, <8 x i32>, i32, i32)
declare <2 x float> @llvm.amdgcn.image.getresinfo.2d.v2f32.i32(i32, i32, <8 x i32>, i32, i32)

!0 = !{}
