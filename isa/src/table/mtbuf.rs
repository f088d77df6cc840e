//! MTBUF: typed buffer memory.

#[doc(hidden)]
#[macro_export]
macro_rules! mtbuf { ($then:ident) => { $then! { Mtbuf;
    tbuffer_load_format_x         [0x00 0x00 0x00 0x00] (b32)  ! (data, b128, u32) [Mem(Load, 0)];
    tbuffer_load_format_xy        [0x01 0x01 0x01 0x01] (b64)  ! (data, b128, u32) [Mem(Load, 0)];
    tbuffer_load_format_xyz       [0x02 0x02 0x02 0x02] (b96)  ! (data, b128, u32) [Mem(Load, 0)];
    tbuffer_load_format_xyzw      [0x03 0x03 0x03 0x03] (b128) ! (data, b128, u32) [Mem(Load, 0)];
    tbuffer_store_format_x        [0x04 0x04 0x04 0x04] ()     ! (data, b128, u32, b32) [Mem(Store, 0)];
    tbuffer_store_format_xy       [0x05 0x05 0x05 0x05] ()     ! (data, b128, u32, b64) [Mem(Store, 0)];
    tbuffer_store_format_xyz      [0x06 0x06 0x06 0x06] ()     ! (data, b128, u32, b96) [Mem(Store, 0)];
    tbuffer_store_format_xyzw     [0x07 0x07 0x07 0x07] ()     ! (data, b128, u32, b128) [Mem(Store, 0)];
    tbuffer_load_format_d16_x     [   _    _ 0x08 0x08] (b32)  ! (data, b128, u32) [Mem(Load, 0)];
    tbuffer_load_format_d16_xy    [   _    _ 0x09 0x09] (b32)  ! (data, b128, u32) [Mem(Load, 0)];
    tbuffer_load_format_d16_xyz   [   _    _ 0x0a 0x0a] (b64)  ! (data, b128, u32) [Mem(Load, 0)];
    tbuffer_load_format_d16_xyzw  [   _    _ 0x0b 0x0b] (b64)  ! (data, b128, u32) [Mem(Load, 0)];
    tbuffer_store_format_d16_x    [   _    _ 0x0c 0x0c] ()     ! (data, b128, u32, b32) [Mem(Store, 0)];
    tbuffer_store_format_d16_xy   [   _    _ 0x0d 0x0d] ()     ! (data, b128, u32, b32) [Mem(Store, 0)];
    tbuffer_store_format_d16_xyz  [   _    _ 0x0e 0x0e] ()     ! (data, b128, u32, b64) [Mem(Store, 0)];
    tbuffer_store_format_d16_xyzw [   _    _ 0x0f 0x0f] ()     ! (data, b128, u32, b64) [Mem(Store, 0)];
} } }

mtbuf! { family }
