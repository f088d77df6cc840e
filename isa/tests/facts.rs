//! What follows from rows: encodings, implicit operands, counters.

mod support;

use gcnjit_isa::{Counters, Decoder, Ext, Format, Gen, Implicit, Op, Second, Space, Target, asm};

fn op(name: &str) -> Op {
    Op::all().find(|op| op.info().name == name).unwrap_or_else(|| panic!("no row {name}"))
}

/// Every form that a golden file has is among its row's encodings.
#[test]
fn encodings_are_those_of_the_golden_files() {
    for target in [Target::Gfx600, Target::Gfx700, Target::Gfx803, Target::Gfx900, Target::Gfx906] {
        for line in support::golden(target) {
            let inst = Decoder::new(target).decode(&line.words).expect(&line.text);
            let second = match inst.ext {
                Ext::Sdwa(_) => Some(Second::Sdwa),
                Ext::Dpp(_) => Some(Second::Dpp),
                _ => None,
            };
            let encodings = inst.op.encodings(target.generation());
            let listed = encodings.iter().any(|known| (known.format, known.second) == (inst.format, second));
            assert!(listed, "{target}: {} is in none of {encodings:?}", line.text);
        }
    }
}

#[test]
fn encodings_with_their_opcodes() {
    let of = |name, generation| {
        let encodings = op(name).encodings(generation).into_iter();
        encodings.map(|encoding| (encoding.format, encoding.opcode, encoding.second)).collect::<Vec<_>>()
    };
    let sdwa_and_dpp = [(Format::Vop2, 1, Some(Second::Sdwa)), (Format::Vop2, 1, Some(Second::Dpp))];
    assert_eq!(of("v_add_f32", Gen::Gfx6), [(Format::Vop2, 3, None), (Format::Vop3a, 0x103, None)]);
    assert_eq!(
        of("v_add_f32", Gen::Gfx9),
        [(Format::Vop2, 1, None), sdwa_and_dpp[0], sdwa_and_dpp[1], (Format::Vop3a, 0x101, None)]
    );
    assert_eq!(of("v_bcnt_u32_b32", Gen::Gfx8), [(Format::Vop3a, 0x28b, None)]);
    assert_eq!(of("v_add_co_u32", Gen::Gfx7)[1], (Format::Vop3b, 0x125, None));
    assert_eq!(of("flat_load_dword", Gen::Gfx6), []);
}

/// Counters by the text of an instruction.
#[test]
fn counters() {
    let none = Counters::default();
    let (vm, exp, lgkm) =
        (Counters { vmcnt: 1, ..none }, Counters { expcnt: 1, ..none }, Counters { lgkmcnt: 1, ..none });
    let cases = [
        (Target::Gfx900, "v_add_f32 v0, v1, v2", none),
        (Target::Gfx900, "s_load_dword s0, s[2:3], 0x0", lgkm),
        (Target::Gfx900, "s_load_dwordx8 s[0:7], s[2:3], 0x0", Counters { lgkmcnt: 2, ..none }),
        (Target::Gfx900, "s_memtime s[0:1]", Counters { lgkmcnt: 2, ..none }),
        (Target::Gfx900, "s_store_dword s0, s[2:3], 0x0", lgkm),
        (Target::Gfx900, "s_dcache_wb", lgkm),
        (Target::Gfx900, "ds_read_b32 v0, v1", lgkm),
        (Target::Gfx900, "ds_add_u32 v0, v1 gds", Counters { expcnt: 1, ..lgkm }),
        (Target::Gfx900, "ds_gws_barrier v0 gds", Counters { expcnt: 1, ..lgkm }),
        (Target::Gfx900, "buffer_store_dword v0, off, s[0:3], 0", vm),
        (Target::Gfx600, "buffer_store_dword v0, off, s[0:3], 0", Counters { expcnt: 1, ..vm }),
        (Target::Gfx600, "buffer_load_dword v0, off, s[0:3], 0", vm),
        (Target::Gfx803, "flat_load_dword v0, v[0:1]", Counters { lgkmcnt: 1, ..vm }),
        (Target::Gfx900, "global_load_dword v0, v[0:1], off", vm),
        (Target::Gfx900, "exp mrt0 v0, v0, v0, v0", exp),
        (Target::Gfx900, "s_sendmsg sendmsg(MSG_INTERRUPT)", lgkm),
        (Target::Gfx900, "s_barrier", none),
    ];
    for (target, text, want) in cases {
        let inst = asm::parse(text, target).expect(text);
        assert_eq!(inst.counters(target.generation()), want, "{target}: {text}");
    }
}

#[test]
fn implicit_operands() {
    use Implicit::*;
    let reads = |name, generation| op(name).implicit_reads(generation);
    assert_eq!(reads("v_add_f32", Gen::Gfx9), [Exec, Mode]);
    assert_eq!(reads("v_add_u32", Gen::Gfx9), [Exec]);
    assert_eq!(reads("v_readlane_b32", Gen::Gfx9), []);
    assert_eq!(reads("v_readfirstlane_b32", Gen::Gfx9), [Exec]);
    assert_eq!(reads("s_cbranch_vccz", Gen::Gfx9), [Vcc]);
    assert_eq!(reads("s_and_b64", Gen::Gfx9), []);
    assert_eq!(reads("ds_read_b32", Gen::Gfx8), [Exec, M0]);
    assert_eq!(reads("ds_read_b32", Gen::Gfx9), [Exec]);
    assert_eq!(reads("ds_append", Gen::Gfx9), [Exec, M0]);
    assert_eq!(reads("flat_load_dword", Gen::Gfx9), [Exec, FlatScratch]);
    assert_eq!(reads("s_load_dword", Gen::Gfx9), []);
    assert_eq!(reads("buffer_wbinvl1", Gen::Gfx9), []);
    assert_eq!(op("v_cmpx_lt_f32").implicit_writes(), [Exec]);
    assert_eq!(op("v_cmp_lt_f32").implicit_writes(), []);
    assert_eq!(op("s_and_saveexec_b64").implicit_writes(), [Exec]);
}

#[test]
fn memory() {
    let of = |name| op(name).memory().map(|memory| (memory.space, memory.bytes));
    assert_eq!(of("s_load_dwordx4"), Some((Space::Scalar, 16)));
    assert_eq!(of("ds_write2st64_b64"), Some((Space::Share, 16)));
    assert_eq!(of("buffer_load_sbyte"), Some((Space::Buffer, 1)));
    assert_eq!(of("image_load"), Some((Space::Image, 0)));
    assert_eq!(of("flat_atomic_add_x2"), Some((Space::Flat, 8)));
    assert_eq!(of("v_mov_b32"), None);
    assert!(op("ds_bpermute_b32").crosses_lanes() && !op("v_mov_b32").crosses_lanes());
}

/// Features tell the targets of a generation apart.
#[test]
fn targets() {
    let of = |name| op(name).targets(Gen::Gfx9).map(Target::name).collect::<Vec<_>>();
    assert_eq!(of("v_mad_mix_f32"), ["gfx900", "gfx902", "gfx909", "gfx90c"]);
    assert_eq!(of("v_fma_mix_f32"), ["gfx904", "gfx906"]);
    assert_eq!(of("v_dot4_i32_i8"), ["gfx906"]);
    assert_eq!(of("v_add_u32").len(), 6);
}
