//! What operations of a lane cost where costs are known to change: a loop around a body for each.

use crate::page::{Bar, Page, Table};
use crate::raw::Raw;
use std::fmt::Write;
use std::time::Duration;

/// Rounds; the least time counts.
const ROUNDS: usize = 5;
/// Times that the loop goes round.
const TURNS: u32 = 200;
/// Work-groups of a launch, of 256 work-items.
const GROUPS: u32 = 8;
const BLOCK: u32 = 256;

/// A body, what comes before the loop, and how many operations of a lane the body is.
struct Cliff {
    name: &'static str,
    before: String,
    body: String,
    operations: u32,
    /// Lanes of a wave that are active.
    lanes: u32,
}

/// Measures all, and writes the section.
pub fn section(page: &mut Page) {
    let mut table = Table::new(&["body of the loop", "operations", "ns an operation of a lane"]);
    let mut bars = Vec::new();
    for cliff in cliffs() {
        let cost = cliff.measure();
        println!("{}: {cost:.3} ns", cliff.name);
        table.row(vec![cliff.name.to_owned(), cliff.operations.to_string(), format!("{cost:.3}")]);
        bars.push(Bar::new(cliff.name, cost));
    }
    page.heading("Costs of an operation");
    page.text(
        "Bare code for gfx900, a loop around each body, work-groups of four waves, one thread; active lanes count.",
    );
    page.table(&table);
    page.plot("cliffs", "Nanoseconds an operation of a lane", bars);
}

impl Cliff {
    fn measure(&self) -> f64 {
        let Cliff { before, body, .. } = self;
        let text = format!(
            "{before}\ns_mov_b32 s8, {TURNS}\nagain:\n{body}\ns_sub_u32 s8, s8, 1\ns_cmp_lg_u32 s8, 0\n\
             s_cbranch_scc1 again\ns_endpgm"
        );
        let raw = Raw::new(&text, 1 << 15);
        raw.run(GROUPS, BLOCK);
        let least: Duration = (0..ROUNDS).map(|_| raw.run(GROUPS, BLOCK)).min().expect("rounds");
        let waves = f64::from(GROUPS * BLOCK / 64);
        least.as_secs_f64() * 1e9 / (waves * f64::from(TURNS * self.operations * self.lanes))
    }
}

/// A line for each of `count` numbers.
fn lines(count: u32, line: impl Fn(u32) -> String) -> String {
    (0..count).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, "{}", line(i));
        text
    })
}

/// An address for each lane in v[2:3]: the buffer and the offset that `offset` leaves in v1.
fn address(offset: &str) -> String {
    format!(
        "{offset}\nv_mov_b32 v3, s1\nv_add_co_u32_e32 v2, vcc, s0, v1\nv_addc_co_u32_e32 v3, vcc, 0, v3, vcc\n\
         v_mov_b32 v4, 0"
    )
}

fn cliffs() -> Vec<Cliff> {
    let plain =
        |name, before: &str, body, operations| Cliff { name, before: before.to_owned(), body, operations, lanes: 64 };
    let add = |i: u32| format!("v_add_u32_e32 v{}, v{}, v{}", 1 + i % 8, 1 + i % 8, 1 + (i + 3) % 8);
    let base = |kind: &str| if kind.starts_with("global") { ", off" } else { "" };
    let load =
        |kind: &'static str| move |i: u32| format!("{kind} v{}, v[2:3]{} offset:{}", 10 + i % 8, base(kind), i % 8 * 4);
    let loads = |kind| lines(32, load(kind)) + "s_waitcnt vmcnt(0)";
    let store = |i: u32| format!("global_store_dword v[2:3], v{}, off offset:{}", 10 + i % 8, i % 8 * 4);
    let stores = || lines(32, store) + "s_waitcnt vmcnt(0)";
    let four = |kind: &'static str, i: u32| {
        let data = format!("v[{}:{}]", 10 + 4 * (i % 8), 13 + 4 * (i % 8));
        let place = format!("off offset:{}", i % 8 * 16);
        if kind == "load" {
            format!("global_load_dwordx4 {data}, v[2:3], {place}")
        } else {
            format!("global_store_dwordx4 v[2:3], {data}, {place}")
        }
    };
    let fours = |kind| lines(32, |i| four(kind, i)) + "s_waitcnt vmcnt(0)";
    let lds = |i: u32| format!("ds_read_b32 v{}, v1 offset:{}", 10 + i % 8, i % 8 * 4);
    let lds = || lines(32, lds) + "s_waitcnt lgkmcnt(0)";
    let f64s = |i: u32| format!("v_fma_f64 v[{0}:{1}], v[2:3], v[4:5], v[{0}:{1}]", 10 + 2 * (i % 8), 11 + 2 * (i % 8));
    let many = |i: u32| format!("v_add_f32_e32 v{}, v{}, v{}", 1 + i % 240, 1 + i % 240, 1 + (i * 7) % 240);
    let masked = |mask: &str| format!("s_mov_b32 exec_lo, {mask}\ns_mov_b32 exec_hi, {mask}");
    let denormals = |register: u32| format!("v_add_u32_e32 v{register}, 77, v0");
    let beside_integers = format!(
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0xf\n{}{}\n{}",
        lines(17, denormals),
        masked("0x55555555"),
        lines(17, |register| format!("v_mov_b32 v{register}, 1.0"))
    );
    let f32s = |i: u32| format!("v_fma_f32 v{0}, v{0}, v{1}, v{2}", 1 + i % 8, 9 + i % 8, 9 + (i + 3) % 8);
    let strided = address("v_lshlrev_b32 v1, 8, v0");
    let random =
        address("s_mov_b32 s5, 0x9e37\nv_mul_lo_u32 v1, v0, s5\nv_and_b32 v1, 0xfffc, v1\nv_min_u32 v1, 0xff00, v1");
    let tile =
        address("v_lshrrev_b32 v1, 3, v0\nv_lshlrev_b32 v1, 7, v1\nv_and_b32 v4, 7, v0\nv_lshl_add_u32 v1, v4, 2, v1");
    let near = address("v_lshlrev_b32 v1, 2, v0");
    let wide = address("v_lshlrev_b32 v1, 4, v0");
    let further = "global_load_dword v10, v[2:3], off\nv_add_co_u32_e32 v2, vcc, 16, v2\n\
                   v_addc_co_u32_e32 v3, vcc, 0, v3, vcc\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v11, v11, v10";
    vec![
        plain("integer adds", "", lines(64, add), 64),
        plain("long straight-line code", "", lines(2000, add), 2000),
        plain("240 VGPRs", "", lines(240, many), 240),
        plain("f64 multiply-adds", "", lines(64, f64s), 64),
        Cliff { lanes: 32, ..plain("half of EXEC, alternating", &masked("0x55555555"), lines(64, add), 64) },
        Cliff { lanes: 2, ..plain("two lanes of EXEC", &masked("1"), lines(64, add), 64) },
        Cliff { lanes: 32, ..plain("f32 multiply-adds beside integers", &beside_integers, lines(64, f32s), 64) },
        plain("flat loads, contiguous", &near, loads("flat_load_dword"), 32),
        plain("global loads, contiguous", &near, loads("global_load_dword"), 32),
        plain("a global load an iteration, each further on", &near, further.to_owned(), 1),
        plain("global loads of 16 bytes, contiguous", &wide, fours("load"), 32),
        plain("global stores of 16 bytes, contiguous", &wide, fours("store"), 32),
        plain("global loads, tiles of 8 by 8", &tile, loads("global_load_dword"), 32),
        plain("global stores, tiles of 8 by 8", &tile, stores(), 32),
        plain("global loads, 256 bytes apart", &strided, loads("global_load_dword"), 32),
        plain("global loads, random", &random, loads("global_load_dword"), 32),
        plain("byte loads, contiguous", &address("v_mov_b32 v1, v0"), loads("global_load_ubyte"), 32),
        plain("LDS reads, contiguous", "v_lshlrev_b32 v1, 2, v0", lds(), 32),
        plain("LDS reads, one bank", "v_lshlrev_b32 v1, 7, v0\nv_and_b32 v1, 0x7f80, v1", lds(), 32),
        plain("barriers", "", "s_barrier".to_owned(), 1),
    ]
}
