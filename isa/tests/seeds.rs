//! Every opcode that the documents list is in the table under its number: the Southern Islands manual (chapters 11 and
//! 12) and CLRX's lists of DS and SMEM instructions. `tests/seeds` has names and numbers as the documents give them;
//! what the table has otherwise is in [`CORRECTIONS`], with the reason.

use gcnjit_isa::{Code, Gen, Op};

/// A line of a list: `ds 0x14 ds_nop 789`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Listed<'a> {
    encoding: &'a str,
    opcode: u16,
    name: &'a str,
    /// Digits of generations; `?` for at least one.
    generations: &'a str,
}

/// What a document has, what the table has instead, and why.
#[rustfmt::skip]
const CORRECTIONS: &[(&str, u16, &str, u16, &str)] = &[
    ("v_mqsad_u8", 0x173, "v_mqsad_pk_u16_u8", 0x173, "LLVM's name on every generation"),
    ("ds_write_src2_b32", 0x8c, "ds_write_src2_b32", 0x8d, "LLVM and CLRX agree on one more than the manual"),
    ("ds_write_src2_b64", 0xcc, "ds_write_src2_b64", 0xcd, "LLVM and CLRX agree on one more than the manual"),
    ("s_buffer_load_dword", 0x18, "s_buffer_store_dword", 0x18, "the page's slip: its text has the store"),
    ("s_buffer_load_dwordx2", 0x19, "s_buffer_store_dwordx2", 0x19, "the page's slip: its text has the store"),
    ("s_buffer_load_dwordx4", 0x1a, "s_buffer_store_dwordx4", 0x1a, "the page's slip: its text has the store"),
];

fn lines(list: &str) -> impl Iterator<Item = Listed<'_>> {
    list.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        let [encoding, opcode, name, generations] = fields[..] else { panic!("four fields: {line}") };
        let digits = opcode.strip_prefix("0x").expect("an opcode in hex");
        Listed { encoding, opcode: u16::from_str_radix(digits, 16).expect("an opcode"), name, generations }
    })
}

/// Whether `op` is what `encoding` has under `opcode` on `generation`.
fn has(op: Op, encoding: &str, opcode: u16, generation: Gen) -> bool {
    match op.info().code(generation) {
        Some(Code::Vop3(number)) if encoding == "vop3" => number == opcode,
        Some(Code::Native(number)) if encoding == op.family() => number == opcode,
        Some(Code::Native(_)) if encoding == "vop3" => op.promoted(generation) == Some(opcode),
        _ => false,
    }
}

/// LLVM's name of what the manual's list of integer compares, which it shares with floats, calls lg and tru.
fn llvm_name(name: &str) -> String {
    let integer = name.starts_with("v_cmp") && ["_i32", "_i64", "_u32", "_u64"].iter().any(|ty| name.ends_with(ty));
    if integer { name.replace("_lg_", "_ne_").replace("_tru_", "_t_") } else { name.to_owned() }
}

/// Whether the table has the line, on every generation it names.
fn found(line: Listed<'_>) -> bool {
    let name = llvm_name(line.name);
    let on = |generation: Gen| {
        Op::all().any(|op| op.info().name_on(generation) == name && has(op, line.encoding, line.opcode, generation))
    };
    let listed = |generation: &Gen| line.generations.contains(['6', '7', '8', '9'][*generation as usize]);
    match line.generations {
        "?" => Gen::ALL.into_iter().any(on),
        _ => Gen::ALL.into_iter().filter(listed).all(on),
    }
}

/// All lines of a list are in the table, or are corrected to what is.
fn check(document: &str, list: &str) {
    let (mut wrong, mut corrected, mut total) = (Vec::new(), 0, 0);
    for line in lines(list) {
        total += 1;
        match CORRECTIONS.iter().find(|(name, opcode, ..)| (*name, *opcode) == (line.name, line.opcode)) {
            None if found(line) => {}
            Some((_, _, name, opcode, _)) if !found(line) && found(Listed { name, opcode: *opcode, ..line }) => {
                corrected += 1;
            }
            _ => wrong.push(format!("{line:?}")),
        }
    }
    println!("{document}: {total} opcodes, {} as listed, {corrected} corrected", total - corrected - wrong.len());
    assert!(wrong.is_empty(), "{document}:\n{}", wrong.join("\n"));
}

#[test]
fn manual() {
    check("Southern Islands manual", include_str!("seeds/manual.txt"));
}

#[test]
fn clrx_ds() {
    check("CLRX DS", include_str!("seeds/clrx-ds.txt"));
}

#[test]
fn clrx_smem() {
    check("CLRX SMEM", include_str!("seeds/clrx-smem.txt"));
}
