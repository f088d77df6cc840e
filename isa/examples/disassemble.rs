//! Disassembles words given in hex, on the command line or on stdin:
//!
//! ```text
//! cargo run -p gcnjit-isa --example disassemble -- gfx900 02000501 bf810000
//! ```

use std::error::Error;
use std::io::Read;

use gcnjit_isa::{Decoder, Target, disas};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let target: Target = args.next().ok_or("usage: disassemble GFX [WORD]...")?.parse()?;
    let mut hex: Vec<String> = args.collect();
    if hex.is_empty() {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        hex = text.split_whitespace().map(str::to_owned).collect();
    }
    let word = |hex: &String| u32::from_str_radix(hex.trim_start_matches("0x"), 16);
    let code: Vec<u32> = hex.iter().map(word).collect::<Result<_, _>>()?;

    let labels = disas::labels(&code, target);
    for (at, inst) in Decoder::new(target).decode_all(&code) {
        if let Some(label) = labels.get(&at) {
            println!("{label}:");
        }
        match inst {
            Ok(inst) => println!("\t{}", disas::text_at(at, &inst, target, &labels)),
            Err(error) => println!("\t.long {:#010x} // {error}", code[at]),
        }
    }
    Ok(())
}
