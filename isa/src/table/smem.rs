//! SMRD (gfx6, gfx7) and SMEM (gfx8, gfx9): scalar memory.

#[doc(hidden)]
#[macro_export]
macro_rules! smem { ($then:ident) => { $then! { Smem;
    s_load_dword  [0x00 0x00 0x00 0x00] (b32) ! (b64) [Mem(Load, 4)];
} } }

smem! { family }
