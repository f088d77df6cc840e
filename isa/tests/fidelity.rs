//! docs/fidelity.md names every row that is not exact, with the bound that the table has.

use std::collections::BTreeMap;

use gcnjit_isa::{Fidelity, Op};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/fidelity.md");

/// The section of the document under a heading.
fn section<'a>(document: &'a str, heading: &str) -> &'a str {
    let start = document.find(heading).unwrap_or_else(|| panic!("docs/fidelity.md has no '{heading}'"));
    let rest = &document[start + heading.len()..];
    &rest[..rest.find("\n## ").unwrap_or(rest.len())]
}

/// Mnemonics in a text.
fn mnemonics(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| word.starts_with("v_") || word.starts_with("s_")).collect()
}

#[test]
fn every_row_that_is_not_exact_is_in_the_document() {
    let document = std::fs::read_to_string(PATH).expect("docs/fidelity.md");
    let mut written = BTreeMap::new();
    for line in section(&document, "## Approximate").lines().filter(|line| line.starts_with("| v_")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ulps: u32 = cells[2].parse().unwrap_or_else(|_| panic!("no bound in '{line}'"));
        written.extend(mnemonics(cells[1]).into_iter().map(|name| (name, format!("within {ulps}"))));
    }
    let host = mnemonics(section(&document, "## Host-defined"));
    written.extend(host.into_iter().map(|name| (name, "host-defined".to_owned())));
    let sampling = section(&document, "### Sampling");
    let rows = Op::all().filter_map(|op| match op.info().fidelity() {
        Fidelity::Exact => None,
        Fidelity::Filtered => {
            let forms = ["image_sample", "image_gather4", "image_get_lod"];
            let named = forms.iter().any(|form| sampling.contains(form) && op.info().name.starts_with(form));
            assert!(named, "'### Sampling' does not name {}", op.info().name);
            None
        }
        Fidelity::Approximate { ulps } => Some((op.info().name, format!("within {ulps}"))),
        Fidelity::HostDefined => Some((op.info().name, "host-defined".to_owned())),
    });
    assert_eq!(rows.collect::<BTreeMap<_, _>>(), written);
}
