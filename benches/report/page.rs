//! The report: markdown with tables, and bar charts as SVG beside it.

use std::fmt::Write;
use std::path::Path;

/// The report being written.
#[derive(Default)]
pub struct Page {
    markdown: String,
    plots: Vec<(&'static str, String)>,
}

/// Rows under a heading each; all but the first column are numbers.
pub struct Table {
    rows: Vec<Vec<String>>,
}

/// A bar of a chart.
pub struct Bar {
    label: String,
    value: f64,
}

impl Bar {
    /// A bar as long as the logarithm of `value`, which is positive.
    pub fn new(label: &str, value: f64) -> Bar {
        Bar { label: label.to_owned(), value }
    }
}

impl Table {
    /// A table without rows.
    pub fn new(headings: &[&str]) -> Table {
        Table { rows: vec![headings.iter().map(|heading| (*heading).to_owned()).collect()] }
    }

    /// The next row, with as many columns as there are headings.
    pub fn row(&mut self, columns: Vec<String>) {
        assert_eq!(columns.len(), self.rows[0].len(), "a column a heading");
        self.rows.push(columns);
    }
}

impl Page {
    /// Begins a section.
    pub fn heading(&mut self, text: &str) {
        self.block(&format!("## {text}"));
    }

    /// A paragraph.
    pub fn text(&mut self, text: &str) {
        self.block(text);
    }

    /// A table.
    pub fn table(&mut self, table: &Table) {
        let line = |row: &[String]| format!("| {} |\n", row.join(" | "));
        let marks: Vec<String> =
            (0..table.rows[0].len()).map(|column| if column == 0 { "---" } else { "--:" }.to_owned()).collect();
        let rows: String = table.rows[1..].iter().map(|row| line(row)).collect();
        self.block(&(line(&table.rows[0]) + &line(&marks) + rows.trim_end()));
    }

    /// A bar chart in a file of its own.
    pub fn plot(&mut self, name: &'static str, title: &str, bars: Vec<Bar>) {
        if !bars.is_empty() {
            self.block(&format!("![{title}]({name}.svg)"));
            self.plots.push((name, chart(title, bars)));
        }
    }

    /// Writes `report.md` and the charts to a directory.
    pub fn write(&self, directory: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(directory)?;
        std::fs::write(directory.join("report.md"), &self.markdown)?;
        self.plots.iter().try_for_each(|(name, svg)| std::fs::write(directory.join(format!("{name}.svg")), svg))
    }

    fn block(&mut self, text: &str) {
        if !self.markdown.is_empty() {
            self.markdown.push('\n');
        }
        self.markdown.push_str(text);
        self.markdown.push('\n');
    }
}

/// Bars on a logarithmic axis, the longest first, with a line at 1.
fn chart(title: &str, mut bars: Vec<Bar>) -> String {
    const LEFT: f64 = 130.0;
    const WIDTH: f64 = 560.0;
    const STEP: f64 = 18.0;
    bars.sort_by(|a, b| b.value.total_cmp(&a.value));
    let low = bars.iter().map(|bar| bar.value).fold(1.0, f64::min).log10().floor();
    let high = bars.iter().map(|bar| bar.value).fold(1.0, f64::max).log10().ceil().max(low + 1.0);
    let at = |value: f64| LEFT + (value.log10() - low) / (high - low) * WIDTH;
    let bottom = 40.0 + STEP * bars.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"{}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<text x=\"{LEFT}\" y=\"18\" font-size=\"14\">{title}</text>\n",
        bottom + 24.0
    );
    for exponent in low as i32..=high as i32 {
        let (value, bold) = (10f64.powi(exponent), if exponent == 0 { "#444" } else { "#ccc" });
        let x = at(value);
        let _ = writeln!(svg, "<line x1=\"{x:.1}\" y1=\"28\" x2=\"{x:.1}\" y2=\"{bottom}\" stroke=\"{bold}\"/>");
        let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{value}</text>", bottom + 14.0);
    }
    for (i, Bar { label, value }) in bars.iter().enumerate() {
        let (y, one, end) = (32.0 + STEP * i as f64, at(1.0), at(*value));
        let (x, length) = (one.min(end), (end - one).abs());
        let color = if *value >= 1.0 { "#3a7" } else { "#c63" };
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{label}</text>", LEFT - 6.0, y + 11.0);
        let _ = writeln!(svg, "<rect x=\"{x:.1}\" y=\"{y}\" width=\"{length:.1}\" height=\"14\" fill=\"{color}\"/>");
        let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{}\">{value:.2}</text>", one.max(end) + 4.0, y + 11.0);
    }
    svg + "</svg>\n"
}

/// Geometric mean, least and count of some ratios, if there are any.
pub fn geometric_mean(ratios: impl Iterator<Item = f64>) -> Option<(f64, f64, usize)> {
    let ratios: Vec<f64> = ratios.collect();
    let least = ratios.iter().copied().reduce(f64::min)?;
    let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64;
    Some((mean.exp(), least, ratios.len()))
}
