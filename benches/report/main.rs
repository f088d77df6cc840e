//! How fast, against what, and why: ratios that are measured in one run, as a page with tables and charts.
//!
//! `cargo bench --bench report` writes `target/bench-report/report.md`; a name after `--` picks kernels
//! and leaves the rest out.
//! docs/performance.md explains the numbers.

mod cliffs;
mod kernels;
mod opencl;
mod page;
mod raw;
mod suite;
#[path = "../../tests/support/mod.rs"]
mod support;
mod translation;

use page::Page;
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    // SAFETY: this is the only thread, and PoCL has not been loaded.
    unsafe { std::env::set_var("POCL_MAX_PTHREAD_COUNT", "1") };
    let filter = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    let names: Vec<String> = support::kernel_names().into_iter().filter(|name| name.contains(&filter)).collect();
    let host = opencl::Host::open();
    if let Err(reason) = &host {
        println!("PoCL is left out: {reason}");
    }
    let mut page = Page::default();
    kernels::section(&mut page, &names, &host);
    translation::section(&mut page, &names);
    if filter.is_empty() {
        cliffs::section(&mut page);
    }
    let directory = directory();
    page.write(&directory)?;
    println!("{}", directory.join("report.md").display());
    Ok(())
}

/// `bench-report` in the target directory, which this program is somewhere below.
fn directory() -> PathBuf {
    let exe = std::env::current_exe().expect("a path of this program");
    let profile = exe.ancestors().nth(2).expect("cargo puts benches into <target>/<profile>/deps");
    profile.with_file_name("bench-report")
}
