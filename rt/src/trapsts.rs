//! TRAPSTS, hardware register 3: the exceptions that a wave's arithmetic has raised.
//!
//! Only EXCP, bits 6:0, is kept (SI manual 3.10): one bit an exception, in the order of [`gcnjit_isa::Exceptions`],
//! which accumulate whatever MODE.EXCP_EN says until the wave writes TRAPSTS or executes v_clrexcp. All other bits read 0
//! and are not written: address watches, the cycle of an exception and the rate of the processor are nothing that a
//! machine without a trap handler has.
//!
//! Finding exceptions costs more than the arithmetic, and next to no kernel asks for them. So a dispatch keeps them if
//! some word of the code that it can execute may be an instruction that names the register ([`View::names_trapsts`]).
//! Where one was not there when the dispatch began, since a guest wrote it, it is an error when a wave gets to it.
//!
//! [`View::names_trapsts`]: crate::View::names_trapsts

/// The number of the register.
pub const REGISTER: u32 = 3;

/// The bits that are kept.
pub const EXCP: u32 = 0x7f;

/// What is said of an instruction that names TRAPSTS in a dispatch that doesn't keep exceptions.
pub const NOT_KEPT: &str = "TRAPSTS in code that was not there when the dispatch began, so exceptions were not kept";

/// Whether the word may be an s_getreg_b32, s_setreg_b32 or s_setreg_imm32_b32 of TRAPSTS, on some generation. A literal
/// may look the same, and so may other SOPK instructions.
pub fn may_name(word: u32) -> bool {
    // SOPK with the opcodes 0x12, 0x13 and 0x15 up to gfx7, 0x11, 0x12 and 0x14 later.
    word >> 28 == 0b1011 && (0x11..=0x15).contains(&(word >> 23 & 0x1f)) && word & 0x3f == REGISTER
}

#[cfg(test)]
mod tests {
    use super::may_name;
    use gcnjit_isa::{Target, asm, encode};

    #[test]
    fn instructions_that_name_the_register_are_seen_on_all_targets() {
        for target in Target::ALL.iter().copied() {
            let word = |text: &str| {
                let inst = asm::parse(text, target).unwrap_or_else(|error| panic!("{text} on {target}: {error}"));
                encode(&inst, target).expect("an encoding")[0]
            };
            assert!(may_name(word("s_getreg_b32 s7, hwreg(HW_REG_TRAPSTS)")));
            assert!(may_name(word("s_getreg_b32 s0, hwreg(HW_REG_TRAPSTS, 31, 1)")));
            assert!(may_name(word("s_setreg_b32 hwreg(HW_REG_TRAPSTS, 3, 5), s1")));
            assert!(may_name(word("s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0x12345")));
            assert!(!may_name(word("s_getreg_b32 s7, hwreg(HW_REG_MODE)")));
            assert!(!may_name(word("s_movk_i32 s3, 0x3")));
            assert!(!may_name(word("v_add_f32 v3, v0, v3")));
        }
    }
}
