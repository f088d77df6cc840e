//! FLAT, GLOBAL and SCRATCH memory; one row for the segments an operation exists in.

#[doc(hidden)]
#[macro_export]
macro_rules! flat { ($then:ident) => { $then! { Flat;
    flat_load_ubyte         [   _ 0x08 0x10 0x10] (b32)  ! (b64) [Scratch, Mem(Load, 1)];
    flat_load_sbyte         [   _ 0x09 0x11 0x11] (b32)  ! (b64) [Scratch, Mem(Load, 1)];
    flat_load_ushort        [   _ 0x0a 0x12 0x12] (b32)  ! (b64) [Scratch, Mem(Load, 2)];
    flat_load_sshort        [   _ 0x0b 0x13 0x13] (b32)  ! (b64) [Scratch, Mem(Load, 2)];
    flat_load_dword         [   _ 0x0c 0x14 0x14] (b32)  ! (b64) [Scratch, Mem(Load, 4)];
    flat_load_dwordx2       [   _ 0x0d 0x15 0x15] (b64)  ! (b64) [Scratch, Mem(Load, 8)];
    flat_load_dwordx3       [   _ 0x0f 0x16 0x16] (b96)  ! (b64) [Scratch, Mem(Load, 12)];
    flat_load_dwordx4       [   _ 0x0e 0x17 0x17] (b128) ! (b64) [Scratch, Mem(Load, 16)];
    flat_store_byte         [   _ 0x18 0x18 0x18] ()     ! (b64, b32) [Scratch, Mem(Store, 1)];
    flat_store_byte_d16_hi  [   _    _    _ 0x19] ()     ! (b64, b32) [Scratch, Mem(Store, 1)];
    flat_store_short        [   _ 0x1a 0x1a 0x1a] ()     ! (b64, b32) [Scratch, Mem(Store, 2)];
    flat_store_short_d16_hi [   _    _    _ 0x1b] ()     ! (b64, b32) [Scratch, Mem(Store, 2)];
    flat_store_dword        [   _ 0x1c 0x1c 0x1c] ()     ! (b64, b32) [Scratch, Mem(Store, 4)];
    flat_store_dwordx2      [   _ 0x1d 0x1d 0x1d] ()     ! (b64, b64) [Scratch, Mem(Store, 8)];
    flat_store_dwordx3      [   _ 0x1f 0x1e 0x1e] ()     ! (b64, b96) [Scratch, Mem(Store, 12)];
    flat_store_dwordx4      [   _ 0x1e 0x1f 0x1f] ()     ! (b64, b128) [Scratch, Mem(Store, 16)];
    flat_load_ubyte_d16     [   _    _    _ 0x20] (b32)  ! (b64, b32) [Acc, Scratch, Mem(Load, 1)];
    flat_load_ubyte_d16_hi  [   _    _    _ 0x21] (b32)  ! (b64, b32) [Acc, Scratch, Mem(Load, 1)];
    flat_load_sbyte_d16     [   _    _    _ 0x22] (b32)  ! (b64, b32) [Acc, Scratch, Mem(Load, 1)];
    flat_load_sbyte_d16_hi  [   _    _    _ 0x23] (b32)  ! (b64, b32) [Acc, Scratch, Mem(Load, 1)];
    flat_load_short_d16     [   _    _    _ 0x24] (b32)  ! (b64, b32) [Acc, Scratch, Mem(Load, 2)];
    flat_load_short_d16_hi  [   _    _    _ 0x25] (b32)  ! (b64, b32) [Acc, Scratch, Mem(Load, 2)];
    flat_atomic_fcmpswap    [   _ 0x3e    _    _] (f32)  ! (b64, b64) [Mem(Atomic, 4)];
    flat_atomic_fmin        [   _ 0x3f    _    _] (f32)  ! (b64, f32) [Mem(Atomic, 4)];
    flat_atomic_fmax        [   _ 0x40    _    _] (f32)  ! (b64, f32) [Mem(Atomic, 4)];
    flat_atomic_swap        [   _ 0x30 0x40 0x40] (b32)  ! (b64, b32) [Mem(Atomic, 4)];
    flat_atomic_cmpswap     [   _ 0x31 0x41 0x41] (b32)  ! (b64, b64) [Mem(Atomic, 4)];
    flat_atomic_add         [   _ 0x32 0x42 0x42] (u32)  ! (b64, u32) [Mem(Atomic, 4)];
    flat_atomic_sub         [   _ 0x33 0x43 0x43] (u32)  ! (b64, u32) [Mem(Atomic, 4)];
    flat_atomic_smin        [   _ 0x35 0x44 0x44] (i32)  ! (b64, i32) [Mem(Atomic, 4)];
    flat_atomic_umin        [   _ 0x36 0x45 0x45] (u32)  ! (b64, u32) [Mem(Atomic, 4)];
    flat_atomic_smax        [   _ 0x37 0x46 0x46] (i32)  ! (b64, i32) [Mem(Atomic, 4)];
    flat_atomic_umax        [   _ 0x38 0x47 0x47] (u32)  ! (b64, u32) [Mem(Atomic, 4)];
    flat_atomic_and         [   _ 0x39 0x48 0x48] (b32)  ! (b64, b32) [Mem(Atomic, 4)];
    flat_atomic_or          [   _ 0x3a 0x49 0x49] (b32)  ! (b64, b32) [Mem(Atomic, 4)];
    flat_atomic_xor         [   _ 0x3b 0x4a 0x4a] (b32)  ! (b64, b32) [Mem(Atomic, 4)];
    flat_atomic_inc         [   _ 0x3c 0x4b 0x4b] (u32)  ! (b64, u32) [Mem(Atomic, 4)];
    flat_atomic_dec         [   _ 0x3d 0x4c 0x4c] (u32)  ! (b64, u32) [Mem(Atomic, 4)];
    flat_atomic_fcmpswap_x2 [   _ 0x5e    _    _] (f64)  ! (b64, b128) [Mem(Atomic, 8)];
    flat_atomic_fmin_x2     [   _ 0x5f    _    _] (f64)  ! (b64, f64) [Mem(Atomic, 8)];
    flat_atomic_fmax_x2     [   _ 0x60    _    _] (f64)  ! (b64, f64) [Mem(Atomic, 8)];
    flat_atomic_swap_x2     [   _ 0x50 0x60 0x60] (b64)  ! (b64, b64) [Mem(Atomic, 8)];
    flat_atomic_cmpswap_x2  [   _ 0x51 0x61 0x61] (b64)  ! (b64, b128) [Mem(Atomic, 8)];
    flat_atomic_add_x2      [   _ 0x52 0x62 0x62] (u64)  ! (b64, u64) [Mem(Atomic, 8)];
    flat_atomic_sub_x2      [   _ 0x53 0x63 0x63] (u64)  ! (b64, u64) [Mem(Atomic, 8)];
    flat_atomic_smin_x2     [   _ 0x55 0x64 0x64] (i64)  ! (b64, i64) [Mem(Atomic, 8)];
    flat_atomic_umin_x2     [   _ 0x56 0x65 0x65] (u64)  ! (b64, u64) [Mem(Atomic, 8)];
    flat_atomic_smax_x2     [   _ 0x57 0x66 0x66] (i64)  ! (b64, i64) [Mem(Atomic, 8)];
    flat_atomic_umax_x2     [   _ 0x58 0x67 0x67] (u64)  ! (b64, u64) [Mem(Atomic, 8)];
    flat_atomic_and_x2      [   _ 0x59 0x68 0x68] (b64)  ! (b64, b64) [Mem(Atomic, 8)];
    flat_atomic_or_x2       [   _ 0x5a 0x69 0x69] (b64)  ! (b64, b64) [Mem(Atomic, 8)];
    flat_atomic_xor_x2      [   _ 0x5b 0x6a 0x6a] (b64)  ! (b64, b64) [Mem(Atomic, 8)];
    flat_atomic_inc_x2      [   _ 0x5c 0x6b 0x6b] (u64)  ! (b64, u64) [Mem(Atomic, 8)];
    flat_atomic_dec_x2      [   _ 0x5d 0x6c 0x6c] (u64)  ! (b64, u64) [Mem(Atomic, 8)];
} } }

flat! { family }
