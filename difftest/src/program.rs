//! Programs: instructions and labels in a list, so that anything can be taken out and the rest placed anew.

use gcnjit_isa::{Decoder, Inst, Operand, Target, Ty, encode};

/// A place in a program.
pub type Label = u16;

/// An element of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// An instruction as it stands.
    Inst(Inst),
    /// An instruction with a label operand that leads to the label.
    Jump(Inst, Label),
    /// An instruction whose literal is the label's address minus its own. After s_getpc_b64 that makes an address.
    Offset(Inst, Label),
    /// The next instruction's place.
    Label(Label),
}

impl Item {
    /// The instruction, if it is one.
    pub fn inst(&self) -> Option<&Inst> {
        match self {
            Item::Inst(inst) | Item::Jump(inst, _) | Item::Offset(inst, _) => Some(inst),
            Item::Label(_) => None,
        }
    }
}

/// A program. It ends where s_endpgm is executed; behind its last instruction there always is one.
pub type Program = Vec<Item>;

/// An instruction in its place.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// Offset from the start of the program in bytes.
    pub offset: u64,
    /// The instruction with its labels resolved.
    pub inst: Inst,
    /// Which item of the program it is.
    pub item: usize,
}

/// `inst` with its size made right, if it has words on `target` and they mean it.
pub fn canonical(mut inst: Inst, target: Target) -> Option<Inst> {
    inst.words = inst.words.max(1);
    let words = encode(&inst, target).ok()?;
    inst.words = words.len() as u8;
    Decoder::new(target).decode(&words).ok().filter(|decoded| *decoded == inst)
}

/// The words of a program and where its instructions are.
///
/// # Errors
/// The index of an item whose label is missing or out of reach, or whose instruction has no words on the target.
pub fn place(program: &[Item], target: Target) -> Result<(Vec<u32>, Vec<Placed>), usize> {
    let (mut offset, mut starts, mut labels) = (0, Vec::with_capacity(program.len()), Vec::new());
    for item in program {
        starts.push(offset);
        match item {
            Item::Label(label) => labels.push((*label, offset)),
            _ => offset += item.inst().map_or(0, |inst| u64::from(inst.size())),
        }
    }
    let (mut words, mut placed) = (Vec::new(), Vec::new());
    for (index, (item, offset)) in program.iter().zip(starts).enumerate() {
        let find = |label: &Label| labels.iter().find(|(known, _)| known == label).map(|(_, at)| *at).ok_or(index);
        let inst = match item {
            Item::Label(_) => continue,
            Item::Inst(inst) => *inst,
            Item::Jump(inst, label) => jump(*inst, find(label)? as i64 - offset as i64 - 4),
            Item::Offset(inst, label) => with_literal(*inst, (find(label)? as i64 - offset as i64) as u32),
        };
        let inst = canonical(inst, target).ok_or(index)?;
        words.extend_from_slice(&encode(&inst, target).map_err(|_| index)?);
        placed.push(Placed { offset, inst, item: index });
    }
    Ok((words, placed))
}

/// The label operand's position.
pub fn label_operand(inst: &Inst) -> Option<usize> {
    inst.op.info().srcs.iter().position(|ty| *ty == Ty::label)
}

fn jump(mut inst: Inst, distance: i64) -> Inst {
    if let Some(label) = label_operand(&inst) {
        inst.src[label] = Operand::Imm((distance / 4) as i32);
    }
    inst
}

/// The instruction with its literal, if it has one, replaced.
pub fn with_literal(mut inst: Inst, value: u32) -> Inst {
    for operand in &mut inst.src {
        if matches!(operand, Operand::Literal(_)) {
            *operand = Operand::Literal(value);
        }
    }
    inst
}

/// Numbers the labels from 1 in the order in which they stand, as reading a filetest does.
pub fn renumber(program: &mut Program) {
    let standing = program.iter().filter_map(|item| match item {
        Item::Label(label) => Some(*label),
        _ => None,
    });
    let order: Vec<Label> = standing.collect();
    let new = |label: Label| order.iter().position(|known| *known == label).map_or(0, |at| at as Label + 1);
    for item in program {
        match item {
            Item::Inst(_) => {}
            Item::Label(label) | Item::Jump(_, label) | Item::Offset(_, label) => *label = new(*label),
        }
    }
}
