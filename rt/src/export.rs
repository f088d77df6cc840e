//! What shaders give away: exports and messages, and who gets them.
//!
//! A wave's exports and messages reach its sink in the order of its instructions, while the instruction executes. In a
//! compute dispatch there is no sink; then they are faults ([`Cause::NoSink`]).

use crate::fault::Cause;
use crate::wave::{LANES, Row, Wave, reg};
use gcnjit_isa::{Inst, Operand};
use std::cell::RefCell;

/// Where an export goes (SI manual, table 10.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A colour buffer, 0 to 7.
    Mrt(u8),
    /// Depth, stencil and sample mask.
    Z,
    /// Nowhere: only the valid mask counts.
    Null,
    /// A position, 0 to 3.
    Position(u8),
    /// A parameter, 0 to 31.
    Parameter(u8),
}

impl Target {
    /// The target with this number in the instruction; the others are reserved.
    pub fn numbered(number: u8) -> Option<Target> {
        match number {
            0..=7 => Some(Target::Mrt(number)),
            8 => Some(Target::Z),
            9 => Some(Target::Null),
            12..=15 => Some(Target::Position(number - 12)),
            32..=63 => Some(Target::Parameter(number - 32)),
            _ => None,
        }
    }
}

/// An export of a wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Which wave of its launch.
    pub wave: u64,
    /// Where it goes.
    pub target: Target,
    /// The lanes that export: EXEC.
    pub lanes: u64,
    /// The channels that are exported, a bit each: x or red is bit 0.
    pub channels: u8,
    /// Channels have 16 bits. What they mean depends on the colour buffer; often they are f16.
    pub compressed: bool,
    /// The last export of its kind.
    pub done: bool,
    /// `lanes` is the mask of the pixels that are valid: the others have been discarded.
    pub valid_mask: bool,
    /// The channels' bits for each lane, zero-extended; those that are not exported are 0.
    pub data: [Row; 4],
}

impl Export {
    /// What the EXP instruction `inst` exports from `wave`; `None` if its target is reserved.
    ///
    /// With COMPR its first two registers hold two channels each, the lower one in the low half; their bits of EN are 0
    /// and 2 (SI manual, 12.8).
    pub fn of(inst: &Inst, wave: &Wave) -> Option<Export> {
        let mem = inst.mem();
        let (compressed, done, valid_mask) = (mem.flags & 1 != 0, mem.flags & 2 != 0, mem.flags & 4 != 0);
        let channels =
            if compressed { [0, 3, 12, 15][usize::from(mem.dmask & 1 | mem.dmask >> 1 & 2)] } else { mem.dmask };
        let row = |channel: usize| {
            let source = if compressed { channel / 2 } else { channel };
            match inst.src[source] {
                Operand::Vgpr(register) if channels >> channel & 1 != 0 => &wave.vgpr[usize::from(register)],
                _ => &[0; LANES],
            }
        };
        let half = |x: u32, channel: usize| if compressed { x >> (16 * (channel & 1)) & 0xffff } else { x };
        let data = std::array::from_fn(|channel| row(channel).map(|x| half(x, channel)));
        let target = Target::numbered(mem.target)?;
        let lanes = wave.exec();
        Some(Export { wave: wave.number, target, lanes, channels, compressed, done, valid_mask, data })
    }

    /// The bits of a lane's channel, if that is exported.
    pub fn channel(&self, lane: usize, channel: usize) -> Option<u32> {
        (self.lanes >> lane & 1 != 0 && self.channels >> channel & 1 != 0).then(|| self.data[channel][lane])
    }
}

/// What a geometry shader does with the vertices that it has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GsOp {
    /// Nothing.
    Nop,
    /// Ends the strip.
    Cut,
    /// Emits a vertex.
    Emit,
    /// Emits a vertex, which is the last of the strip.
    EmitCut,
}

/// A message of a geometry shader (SI manual, S_SENDMSG).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Which wave of its launch.
    pub wave: u64,
    /// What it does.
    pub op: GsOp,
    /// Whether it is the wave's last one (GS_DONE).
    pub done: bool,
    /// The vertex stream, 0 to 3.
    pub stream: u8,
    /// The lanes that it is about: EXEC.
    pub lanes: u64,
    /// M0, whose low byte is the number of the geometry shader's wave.
    pub m0: u32,
}

/// Something that a wave gives away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// An export.
    Export(Box<Export>),
    /// A message.
    Message(Message),
}

/// What s_sendmsg says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// An interrupt, which reaches the host.
    Interrupt,
    /// A message of a geometry shader.
    Gs {
        /// What it does.
        op: GsOp,
        /// Whether it is the last one.
        done: bool,
        /// The vertex stream.
        stream: u8,
    },
}

impl Sent {
    /// What the immediate of s_sendmsg means; `None` for messages of trap handlers, of other kinds of shaders, and for
    /// numbers without a meaning, among them GS without an operation.
    pub fn decode(immediate: u16) -> Option<Sent> {
        let op = [GsOp::Nop, GsOp::Cut, GsOp::Emit, GsOp::EmitCut][usize::from(immediate >> 4 & 3)];
        let stream = (immediate >> 8 & 3) as u8;
        match immediate & 15 {
            1 => Some(Sent::Interrupt),
            2 if op != GsOp::Nop => Some(Sent::Gs { op, done: false, stream }),
            3 => Some(Sent::Gs { op, done: true, stream }),
            _ => None,
        }
    }
}

/// Who gets exports and messages. Several waves may run at the same time, but each of its calls for a wave is over
/// before that wave goes on.
pub trait Sink {
    /// Takes an export.
    fn export(&self, export: &Export);
    /// Takes a message.
    fn message(&self, message: &Message);
}

/// Keeps what it gets, in order.
#[derive(Debug, Default)]
pub struct Recorder(RefCell<Vec<Given>>);

impl Recorder {
    /// What it got.
    pub fn into_inner(self) -> Vec<Given> {
        self.0.into_inner()
    }
}

impl Sink for Recorder {
    fn export(&self, export: &Export) {
        self.0.borrow_mut().push(Given::Export(Box::new(export.clone())));
    }

    fn message(&self, message: &Message) {
        self.0.borrow_mut().push(Given::Message(*message));
    }
}

/// Has `wave` export to `sink` what `inst` says, an EXP instruction with a target.
///
/// # Errors
/// [`Cause::NoSink`] without one.
pub fn export(sink: Option<&dyn Sink>, inst: &Inst, wave: &Wave) -> Result<(), Cause> {
    let sink = sink.ok_or(Cause::NoSink)?;
    if let Some(export) = Export::of(inst, wave) {
        sink.export(&export);
    }
    Ok(())
}

/// Has `wave` send a message to `sink`. Interrupts reach the host, which does nothing about them.
///
/// # Errors
/// [`Cause::NoSink`] without a sink.
pub fn send(sink: Option<&dyn Sink>, sent: Sent, wave: &Wave) -> Result<(), Cause> {
    if let Sent::Gs { op, done, stream } = sent {
        let message = Message { wave: wave.number, op, done, stream, lanes: wave.exec(), m0: wave.sgpr[reg::M0] };
        sink.ok_or(Cause::NoSink)?.message(&message);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gcnjit_isa::{Target as Processor, asm};

    fn exported(text: &str) -> Export {
        let mut wave = Wave::new();
        for register in 0..4 {
            wave.vgpr[register] = std::array::from_fn(|lane| 0x1000_2000 * (register as u32 + 1) + lane as u32);
        }
        wave.set_exec(0x8000_0000_0000_0005);
        wave.number = 7;
        Export::of(&asm::parse(text, Processor::Gfx600).unwrap(), &wave).unwrap()
    }

    #[test]
    fn channels_are_registers() {
        let export = exported("exp mrt3 v3, off, v1, v0 done vm");
        assert_eq!((export.target, export.wave, export.lanes), (Target::Mrt(3), 7, 0x8000_0000_0000_0005));
        assert_eq!((export.channels, export.compressed, export.done, export.valid_mask), (0b1101, false, true, true));
        assert_eq!([0, 1, 2, 3].map(|channel| export.data[channel][2]), [0x4000_8002, 0, 0x2000_4002, 0x1000_2002]);
        assert_eq!([0, 1].map(|channel| export.channel(63, channel)), [Some(0x4000_803f), None]);
        assert_eq!(export.channel(1, 0), None);
    }

    #[test]
    fn compressed_channels_are_halves() {
        let export = exported("exp mrt0 v1, v1, v2, v2 compr vm");
        assert_eq!((export.channels, export.compressed, export.done), (15, true, false));
        assert_eq!([0, 1, 2, 3].map(|channel| export.data[channel][2]), [0x4002, 0x2000, 0x6002, 0x3000]);
        let low = exported("exp mrtz v1, v1, off, off compr");
        assert_eq!((low.target, low.channels, low.data[2][2]), (Target::Z, 3, 0));
    }

    #[test]
    fn targets() {
        use Target::{Mrt, Null, Parameter, Position, Z};
        let known = [0, 7, 8, 9, 12, 15, 32, 63].map(Target::numbered);
        let expected = [Mrt(0), Mrt(7), Z, Null, Position(0), Position(3), Parameter(0), Parameter(31)];
        assert_eq!(known, expected.map(Some));
        assert!((0..=63).filter(|number| Target::numbered(*number).is_none()).eq([10, 11].into_iter().chain(16..32)));
    }

    #[test]
    fn messages() {
        assert_eq!(Sent::decode(1), Some(Sent::Interrupt));
        assert_eq!(Sent::decode(0x122), Some(Sent::Gs { op: GsOp::Emit, done: false, stream: 1 }));
        assert_eq!(Sent::decode(0x332), Some(Sent::Gs { op: GsOp::EmitCut, done: false, stream: 3 }));
        assert_eq!(Sent::decode(0x003), Some(Sent::Gs { op: GsOp::Nop, done: true, stream: 0 }));
        assert_eq!([0, 2, 4, 9, 15].map(Sent::decode), [None; 5]);
    }
}
