//! DS instructions by which waves of different work-groups meet: global wave sync, and ordered append.
//!
//! A wave speaks for all its lanes: the number is that of the first active lane, of lane 0 without any, as it is for
//! v_readfirstlane. Of an operation that has to wait the wave is given back to the runtime.

#![allow(missing_docs, reason = "a body is documented by its row and the ISA manual")]

use crate::memory;
use crate::run::Machine;
use gcnjit_isa::Inst;
use gcnjit_rt::gws::{Gws, Request};
use gcnjit_rt::wave::reg;
use gcnjit_rt::{Stop, Trap, Wait, WaitFor};

fn request(m: &mut Machine<'_>, inst: &Inst, request: Request) -> Result<(), Trap> {
    let resource = Gws::resource(m.wave.sgpr[reg::M0], inst.mem().offset as u32);
    let ticket = m.env.gds.gws().request(resource, request);
    m.stop = ticket.map(|ticket| Stop::Wait(Wait { pc: m.wave.pc, on: WaitFor::Call(ticket) }));
    Ok(())
}

/// The number that the wave says.
fn number(m: &mut Machine<'_>, inst: &Inst) -> u32 {
    let first = m.active().next().unwrap_or(0);
    memory::addresses(m, inst.src[0])[first]
}

pub fn ds_gws_sema_release_all(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    request(m, inst, Request::ReleaseAll)
}

pub fn ds_gws_init(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let count = number(m, inst);
    request(m, inst, Request::Init(count))
}

pub fn ds_gws_sema_v(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    request(m, inst, Request::V)
}

pub fn ds_gws_sema_br(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let count = number(m, inst);
    request(m, inst, Request::Bulk(count))
}

pub fn ds_gws_sema_p(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    request(m, inst, Request::P)
}

pub fn ds_gws_barrier(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let count = number(m, inst);
    request(m, inst, Request::Barrier(count))
}

/// An atomic on a counter in GDS, at M0's base and the offset's low byte, in the order that waves were created in. Of
/// the high byte bits 5:4 say which one, and bits 0 and 1 that the wave lets the others go first afterwards.
pub fn ds_ordered_count(m: &mut Machine<'_>, inst: &Inst) -> Result<(), Trap> {
    let [index, flags, ..] = inst.mem().offset.to_le_bytes();
    let update: fn(u32, u32) -> u32 = match flags >> 4 & 3 {
        0 => u32::wrapping_add,
        1 => |_, data| data,
        _ => return Err(m.unimplemented(inst, "this ordered operation")),
    };
    let number = m.wave.number;
    if !m.env.order.is_turn(number) {
        // It is executed when its turn has come, and counted then.
        m.stop = Some(Stop::Wait(Wait { pc: m.wave.pc, on: WaitFor::Turn }));
        m.next = m.wave.pc;
        m.wave.executed = m.wave.executed.wrapping_sub(1);
        return Ok(());
    }
    let address = (m.wave.sgpr[reg::M0] >> 16).wrapping_add(u32::from(index));
    let data = memory::addresses(m, inst.src[0]);
    for lane in m.active() {
        m.buffers.dst[0][0][lane] = m.env.gds.atomic_u32(address, |old| update(old, data[lane]));
    }
    memory::write_back(m, inst.dst[0], 1);
    if flags & 3 != 0 {
        m.env.order.pass(number..number + 1);
    }
    Ok(())
}
