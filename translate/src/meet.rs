//! DS instructions by which waves of different work-groups meet: global wave sync, and ordered append. Translated code
//! leaves for them ([`crate::jit::Exit::Meet`]), since the wave may have to wait, and enters again behind them.
//!
//! The number that a wave says is that of its first active lane, of lane 0 without any.

use gcnjit_isa::{Ds, Inst, Op, Operand};
use gcnjit_rt::gws::{Gws, Request};
use gcnjit_rt::wave::reg;
use gcnjit_rt::{Env, Wait, WaitFor, Wave};

/// What an instruction asks for.
enum Meeting {
    /// Global wave sync.
    Sync(fn(u32) -> Request),
    /// Ordered append.
    Append { swap: bool },
}

fn meeting(inst: &Inst) -> Option<Meeting> {
    let Op::Ds(op) = inst.op else { return None };
    Some(match op {
        Ds::ds_gws_sema_release_all => Meeting::Sync(|_| Request::ReleaseAll),
        Ds::ds_gws_init => Meeting::Sync(Request::Init),
        Ds::ds_gws_sema_v => Meeting::Sync(|_| Request::V),
        Ds::ds_gws_sema_br => Meeting::Sync(Request::Bulk),
        Ds::ds_gws_sema_p => Meeting::Sync(|_| Request::P),
        Ds::ds_gws_barrier => Meeting::Sync(Request::Barrier),
        Ds::ds_ordered_count => match inst.mem().offset >> 12 & 3 {
            0 => Meeting::Append { swap: false },
            1 => Meeting::Append { swap: true },
            _ => return None,
        },
        _ => return None,
    })
}

/// Whether [`execute`] knows the instruction.
pub fn knows(inst: &Inst) -> bool {
    meeting(inst).is_some()
}

/// Executes the instruction at `wave.pc`, one that [`knows`], and moves the wave behind it. A wave that has to wait for
/// its turn stays where it is.
pub fn execute(inst: &Inst, wave: &mut Wave, env: &Env<'_>) -> Option<Wait> {
    let (pc, m0, offset) = (wave.pc, wave.sgpr[reg::M0], inst.mem().offset as u32);
    let on = match meeting(inst)? {
        Meeting::Sync(request) => {
            let lane = wave.exec().trailing_zeros() as usize % 64;
            let request = request(row(inst.src[0]).map_or(0, |row| wave.vgpr[row][lane]));
            env.gds.gws().request(Gws::resource(m0, offset), request).map(WaitFor::Call)
        }
        Meeting::Append { .. } if !env.order.is_turn(wave.number) => {
            // It is executed when its turn has come, and counted then.
            wave.executed = wave.executed.wrapping_sub(1);
            return Some(Wait { pc, on: WaitFor::Turn });
        }
        Meeting::Append { swap } => {
            append(inst, wave, env, swap);
            None
        }
    };
    wave.pc = pc + u64::from(inst.size());
    on.map(|on| Wait { pc, on })
}

/// Lane by lane on a counter in GDS; then the wave may let the others go first.
fn append(inst: &Inst, wave: &mut Wave, env: &Env<'_>, swap: bool) {
    let offset = inst.mem().offset as u32;
    let at = (wave.sgpr[reg::M0] >> 16).wrapping_add(offset & 0xff);
    let active = (0..64).filter(|lane| wave.exec() >> lane & 1 != 0).collect::<Vec<usize>>();
    for lane in active {
        let data = row(inst.src[0]).map_or(0, |row| wave.vgpr[row][lane]);
        let old = env.gds.atomic_u32(at, |old| if swap { data } else { old.wrapping_add(data) });
        if let Some(row) = row(inst.dst[0]) {
            wave.vgpr[row][lane] = old;
        }
    }
    if offset & 0x300 != 0 {
        env.order.pass(wave.number..wave.number + 1);
    }
}

fn row(operand: Operand) -> Option<usize> {
    match operand {
        Operand::Vgpr(register) => Some(register.into()),
        _ => None,
    }
}
