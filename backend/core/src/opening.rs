//! Balances of another system, as a file has them (docs/money.md, Moving in).

use std::collections::HashMap;

use super::domain::rupiah::Rupiah;
use super::domain::telp::Telp;
use super::domain::text;

/// The most rows that a file may have.
pub const MAX_ROWS: usize = 20_000;

/// A balance of a customer of the other system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// The line of the file, from 1 on.
    pub line: i32,
    pub telp: Telp,
    pub name: Option<String>,
    /// Rupiah.
    pub amount: i64,
}

/// A line that cannot be booked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongLine {
    pub line: i32,
    pub why: String,
}

/// Number, name and balance of a line.
pub type Fields<'a> = [&'a str; 3];

/// Reads a line.
///
/// # Errors
/// What is wrong with it.
pub fn read(line: i32, [telp, name, amount]: Fields<'_>) -> Result<Opening, WrongLine> {
    let wrong = |why: String| WrongLine { line, why };
    let telp = Telp::parse(telp).map_err(|e| wrong(e.to_string()))?;
    let name = match name.trim() {
        "" => None,
        name => Some(text::parse("nama", name, text::MAX_NAME_CHARS).map_err(|e| wrong(e.to_string()))?),
    };
    let digits = amount.trim();
    let is_plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let amount = digits.parse::<i64>().ok().filter(|_| is_plain);
    let amount = amount.ok_or_else(|| wrong("saldo harus rupiah utuh tanpa titik, misalnya 50000".to_owned()))?;
    let amount = Rupiah::from(amount).within("saldo", 1).map_err(|e| wrong(e.to_string()))?;
    Ok(Opening { line, telp, name, amount })
}

/// The lines whose number an earlier line has.
pub fn doubles(openings: &[Opening]) -> Vec<WrongLine> {
    let mut first: HashMap<&Telp, i32> = HashMap::new();
    let mut wrong = Vec::new();
    for opening in openings {
        match first.get(&opening.telp) {
            Some(line) => wrong.push(WrongLine { line: opening.line, why: format!("nomor ini sudah ada di baris {line}") }),
            None => _ = first.insert(&opening.telp, opening.line),
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_number_a_name_and_whole_rupiah() {
        let good = read(2, ["0812-3456-7890", " Siti Rahma ", "50000"]).unwrap();
        let telp = Telp::parse("81234567890").unwrap();
        assert_eq!(good, Opening { line: 2, telp, name: Some("Siti Rahma".to_owned()), amount: 50_000 });
        assert_eq!(read(3, ["81234567890", "", "1"]).unwrap().name, None);
        for (fields, part) in [
            (["812", "Siti", "1"], "telp "),
            (["81234567890", "a\u{0}", "1"], "nama "),
            (["81234567890", "Siti", "50.000"], "tanpa titik"),
            (["81234567890", "Siti", "50000,00"], "tanpa titik"),
            (["81234567890", "Siti", "-1"], "tanpa titik"),
            (["81234567890", "Siti", ""], "tanpa titik"),
            (["81234567890", "Siti", "99999999999999999999"], "tanpa titik"),
            (["81234567890", "Siti", "0"], "saldo harus 1 sampai"),
            (["81234567890", "Siti", "20000001"], "saldo harus 1 sampai"),
        ] {
            let wrong = read(7, fields).unwrap_err();
            assert!(wrong.line == 7 && wrong.why.contains(part), "{fields:?}: {wrong:?}");
        }
    }

    #[test]
    fn a_number_is_in_a_file_once() {
        let at = |line, telp| read(line, [telp, "", "1"]).unwrap();
        let openings = [at(2, "81234567890"), at(3, "81234567891"), at(4, "+6281234567890"), at(5, "081234567890")];
        let lines: Vec<_> = doubles(&openings).into_iter().map(|wrong| (wrong.line, wrong.why)).collect();
        let why = "nomor ini sudah ada di baris 2".to_owned();
        assert_eq!(lines, [(4, why.clone()), (5, why)]);
    }
}
