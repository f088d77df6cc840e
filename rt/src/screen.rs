//! The table of v_screen_partition_4se_b32, which gfx9 has in hardware.

/// Sixteen entries of four bits a word, the first lowest.
const TABLE: [u64; 16] = [
    0xffff_fff7_fff5_f731,
    0xffff_ffbf_ffaf_e62f,
    0xffff_fdff_f5ff_c4fd,
    0xffff_efff_afff_8fb9,
    0xfffe_fff6_fdc4_ffff,
    0xffdf_f99f_b98f_ffff,
    0xfbff_f9ff_31f7_ffff,
    0x7fff_6ff6_2fe6_ffff,
    0xfffa_fb32_ffff_fffb,
    0xff5f_d91f_ffff_ff7f,
    0xfaff_c8fe_ffff_feff,
    0x5fff_4f76_ffff_dfff,
    0xfec8_ffff_fffd_fff9,
    0x764f_ffff_ffef_f66f,
    0x32fb_ffff_f7ff_f6ff,
    0x1fd9_ffff_bfff_9ff9,
];

/// The entry of the low byte.
pub fn partition_4se(x: u32) -> u32 {
    (TABLE[(x >> 4 & 15) as usize] >> (4 * (x & 15))) as u32 & 15
}

#[cfg(test)]
mod tests {
    use super::partition_4se;

    #[test]
    fn entries_are_where_they_belong() {
        let rows = [[0, 0x1], [1, 0x3], [4, 0x5], [0x11, 0x2], [0x22, 0x4], [0x33, 0x8], [0xfe, 0xf], [0x1ff, 0x1]];
        assert_eq!(rows.map(|[x, _]| partition_4se(x)), rows.map(|[_, entry]| entry));
    }
}
