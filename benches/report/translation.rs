//! What translation costs: for every kernel, and for one of 3,000 instructions.

use crate::page::{Page, Table};
use crate::raw::Raw;
use crate::suite::Case;
use gcnjit::{Engine, JitStats};
use std::fmt::Write;

/// Translations of each; the fastest counts.
const ROUNDS: usize = 3;
/// Instructions of the long kernel.
const LONG: usize = 3000;

/// Measures the kernels in `names`, and writes the section.
pub fn section(page: &mut Page, names: &[String]) {
    let mut all: Vec<(String, JitStats)> =
        names.iter().map(|name| (name.clone(), fastest(|| of_kernel(name)))).collect();
    all.push(("3,000 instructions".to_owned(), fastest(long)));
    let mut table = Table::new(&["kernel", "instructions", "ms", "µs an instruction", "host bytes an instruction"]);
    for (name, stats) in &all {
        let bytes = stats.translated_bytes as f64 / stats.instructions as f64;
        let ms = stats.stages.total().as_secs_f64() * 1e3;
        let columns = [format!("{ms:.3}"), format!("{:.2}", each(stats)), format!("{bytes:.0}")];
        table.row([name.clone(), stats.instructions.to_string()].into_iter().chain(columns).collect());
    }
    page.heading("Translation");
    page.table(&table);
    let mut costs: Vec<f64> = all[..names.len()].iter().map(|(_, stats)| each(stats)).collect();
    costs.sort_by(f64::total_cmp);
    if let Some(median) = costs.get(costs.len() / 2) {
        page.text(&format!("Median over the kernels: {median:.2} µs an instruction."));
    }
}

/// Microseconds that an instruction takes.
fn each(stats: &JitStats) -> f64 {
    stats.stages.total().as_secs_f64() * 1e6 / stats.instructions as f64
}

fn fastest(translate: impl Fn() -> JitStats) -> JitStats {
    (0..ROUNDS).map(|_| translate()).min_by_key(|stats| stats.stages.total()).expect("rounds")
}

fn of_kernel(name: &str) -> JitStats {
    let case = Case::new(name);
    case.run(Engine::Jit, 1);
    case.translated()
}

/// Straight-line code of several kinds of instructions.
fn long() -> JitStats {
    let kinds = ["v_add_u32_e32", "v_mul_f32_e32", "v_xor_b32_e32", "v_add_f32_e32", "v_lshlrev_b32_e32"];
    let mut text = String::new();
    for i in 0..LONG - 1 {
        let (kind, to, from) = (kinds[i % kinds.len()], 1 + i % 60, 1 + (i * 7 + 3) % 60);
        let _ = writeln!(text, "{kind} v{to}, v{from}, v{}", 1 + (i * 11 + 5) % 60);
    }
    let raw = Raw::new(&(text + "s_endpgm"), 0);
    raw.run(1, 64);
    raw.translated()
}
