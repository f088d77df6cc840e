//! `gcnjit info`: what is in a code object.

use crate::cli::failure::Failure;
use crate::cli::print;
use gcnjit::rt::code_object::{Abi, Access, Arg, ArgKind, Global};
use gcnjit::rt::{KernelCode, kernarg};
use gcnjit::{Device, Module, Target};
use serde_json::{Value, json};
use std::fmt::Write;

/// Shows target, version and kernels of a code object: arguments, registers, LDS, scratch.
#[derive(clap::Args)]
pub struct Args {
    /// The code object.
    file: String,
    /// The part of an offload bundle that is shown, such as gfx900.
    #[arg(long, value_name = "GFX")]
    gfx: Option<Target>,
    /// Print one line of JSON.
    #[arg(long)]
    json: bool,
}

/// Prints what is in the file.
pub fn main(args: &Args) -> Result<(), Failure> {
    let module = Module::open_for(&Device::new()?, &args.file, args.gfx)?;
    print(&if args.json { format!("{}\n", json(&module)) } else { text(&module) })
}

fn version(abi: Abi) -> &'static str {
    match abi {
        Abi::HsaV2 => "HSA code object 2",
        Abi::HsaV3 => "HSA code object 3 or 4",
        Abi::HsaV5 => "HSA code object 5 or 6",
        Abi::Amdcl => "Catalyst OpenCL 1.2",
        Abi::Raw => "bare code",
        Abi::Shader => "graphics pipeline",
    }
}

/// The kernel's explicit arguments; none if the file does not tell.
fn explicit(code: &KernelCode) -> Vec<&Arg> {
    kernarg::explicit(code.args.as_deref().unwrap_or_default()).collect()
}

fn kind(kind: ArgKind) -> &'static str {
    match kind {
        ArgKind::Value | ArgKind::Widened { .. } => "value",
        ArgKind::Buffer | ArgKind::Bound(_) => "buffer",
        ArgKind::DynamicLds => "lds",
        ArgKind::Described(_) | ArgKind::Object => "object",
        ArgKind::Hidden(_) => "hidden",
    }
}

fn access(access: Access) -> &'static str {
    match access {
        Access::ReadWrite => "read and written",
        Access::ReadOnly => "read",
        Access::WriteOnly => "written",
    }
}

fn text(module: &Module) -> String {
    let mut text = format!("{}: {}", module.name(), module.target());
    if !module.image().parts.is_empty() {
        let _ = write!(text, ", from a bundle of {}", module.image().parts.join(", "));
    }
    for (name, global) in &module.image().globals {
        let _ = write!(text, "\nvariable {name}: {} bytes at {:#x}", global.size, global.offset);
    }
    for code in module.image().kernels.values() {
        let _ = write!(text, "\n\n{} ({})\n", code.name, version(code.abi));
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "  {name:<11} {value}");
        };
        let count = |count: Option<u32>| count.map_or("?".to_owned(), |count| count.to_string());
        let (sgprs, vgprs) = (count(code.sgprs), count(code.vgprs));
        line("registers", format!("{sgprs} SGPRs, {vgprs} VGPRs ({} allocated)", code.rsrc1.vgprs()));
        line("LDS", format!("{} bytes a work-group", code.lds_size));
        let deeper = if code.dynamic_stack { ", and what calls need" } else { "" };
        line("scratch", format!("{} bytes a work-item{deeper}", code.scratch_size));
        match (code.required_group, code.max_group) {
            (Some([x, y, z]), _) => line("work-group", format!("exactly {x}×{y}×{z} work-items")),
            (None, Some(max)) => line("work-group", format!("at most {max} work-items")),
            (None, None) => {}
        }
        line("kernarg", format!("{} bytes", code.kernarg_size));
        if let Some(missing) = code.missing {
            line("needs", format!("{missing}, which are not supported"));
        }
        if code.args.is_none() {
            line("arguments", "not described".to_owned());
        }
        for (index, arg) in explicit(code).into_iter().enumerate() {
            line(&format!("argument {index}"), describe(arg));
        }
    }
    text.trim_end().to_owned() + "\n"
}

fn describe(arg: &Arg) -> String {
    let source: Vec<&str> = [&arg.type_name, &arg.name].into_iter().flatten().map(String::as_str).collect();
    let use_of = if matches!(arg.kind, ArgKind::Buffer | ArgKind::Bound(_)) {
        format!(", {}", access(arg.access))
    } else {
        String::new()
    };
    format!("{} at {}, {} bytes{use_of}: {}", kind(arg.kind), arg.offset, arg.size, source.join(" "))
}

fn json(module: &Module) -> Value {
    let arg = |arg: &Arg| {
        json!({
            "name": arg.name,
            "type": arg.type_name,
            "kind": kind(arg.kind),
            "offset": arg.offset,
            "size": arg.size,
        })
    };
    let kernel = |code: &KernelCode| {
        json!({
            "name": code.name,
            "version": version(code.abi),
            "sgprs": code.sgprs,
            "vgprs": code.vgprs,
            "vgprs_allocated": code.rsrc1.vgprs(),
            "lds": code.lds_size,
            "scratch": code.scratch_size,
            "dynamic_stack": code.dynamic_stack,
            "required_group": code.required_group,
            "max_group": code.max_group,
            "kernarg": code.kernarg_size,
            "args": code.args.as_ref().map(|_| explicit(code).into_iter().map(arg).collect::<Vec<_>>()),
        })
    };
    let kernels: Vec<Value> = module.image().kernels.values().map(|code| kernel(code)).collect();
    let global =
        |(name, global): (&String, &Global)| json!({ "name": name, "offset": global.offset, "size": global.size });
    json!({
        "file": module.name(),
        "gfx": module.target().name(),
        "parts": module.image().parts,
        "variables": module.image().globals.iter().map(global).collect::<Vec<_>>(),
        "kernels": kernels,
    })
}
