//! `nyala import saldo`: balances of another system, from a file (docs/money.md, Moving in).

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use nyala_core::domain::id::OutletId;
use nyala_core::opening::{self, MAX_ROWS, Opening, WrongLine};
use nyala_ledger::error::LedgerError;
use nyala_ledger::newer_kinds;
use nyala_ledger::opening as ledger;
use nyala_ledger::opening::Import;
use nyala_store::db::audit::{self, AuditEntry};
use nyala_store::db::error::DbError;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::context::{self, CommandContext, PRINCIPAL};
use super::{CommonArgs, Failure, output};

const HEADER: [&str; 3] = ["telp", "nama", "saldo"];
const MAX_BYTES: u64 = 8 << 20;

#[derive(Debug, Subcommand)]
pub enum ImportCommand {
    /// Balances of customers of another system: who is registered has them at once, others when they register their number
    Saldo(Saldo),
}

#[derive(Debug, Args)]
pub struct Saldo {
    /// A line `telp,nama,saldo`, then one for each customer, in UTF-8, with commas or semicolons; whole rupiah without dots
    #[arg(value_name = "FILE.csv")]
    file: PathBuf,
    /// The outlet that owes the balances
    #[arg(long, visible_alias = "idoutlet", value_name = "ID")]
    outlet: OutletId,
    /// Book them; without it, nothing is changed
    #[arg(long)]
    yes: bool,
}

impl ImportCommand {
    pub fn run(self, common: &CommonArgs) -> Result<(), Failure> {
        let Self::Saldo(saldo) = self;
        let file = BalanceFile::read(&saldo.file)?;
        let wrong = context::run(common, async |k| saldo.book(k, &file).await)?;
        let mut lines: Vec<_> = wrong.iter().map(|WrongLine { line, why }| format!("line {line}: {why}")).collect();
        lines.push(format!("rows: {} sum: {}", file.rows, file.openings.iter().map(|opening| opening.amount).sum::<i64>()));
        let is_booked = saldo.yes && wrong.is_empty();
        let done = if is_booked { "the balances are booked, do not repeat it" } else { output::NOTHING };
        output::print(&lines.join("\n"), done)?;
        if wrong.is_empty() { Ok(()) } else { Err(Failure::new(format!("{} lines are wrong, nothing was booked", wrong.len()))) }
    }
}

impl Saldo {
    /// Books the file, or finds out which of its lines are wrong.
    async fn book(&self, k: &CommandContext, file: &BalanceFile) -> Result<Vec<WrongLine>, Failure> {
        let idoutlet = self.outlet;
        let mut client = k.client().await?;
        newer_kinds::check(&client).await.map_err(|e| match e {
            LedgerError::Db(DbError::Busy) => {
                Failure::new("a server of the release before is alive, which cannot read such balances")
            }
            other => other.into(),
        })?;
        let tx = client.transaction().await?;
        if tx.query_opt("SELECT FROM outlet WHERE idoutlet = $1", &[&idoutlet]).await?.is_none() {
            return Err(Failure::new(format!("there is no outlet {idoutlet}")));
        }
        if let Some(outlet) = ledger::imported_for(&tx, &file.sha256).await? {
            return Err(Failure::new(format!("this file was imported already, for outlet {outlet}")));
        }
        let import =
            Import { idoutlet, file: &file.sha256, max: k.config.ledger.max_balance(), principal: PRINCIPAL, now: k.now };
        let mut wrong = file.wrong.clone();
        wrong.extend(ledger::import(&tx, &file.openings, &import).await?);
        wrong.sort_by_key(|wrong| wrong.line);
        if self.yes && wrong.is_empty() {
            let sum: i64 = file.openings.iter().map(|opening| opening.amount).sum();
            let content = json!({ "berkas": file.sha256, "baris": file.openings.len(), "jumlah": sum });
            let object = format!("outlet:{idoutlet}");
            let entry = AuditEntry { principal: PRINCIPAL, action: "saldo_awal.impor", object, content };
            audit::write_at(&tx, Some(idoutlet), &entry, k.now).await?;
            tx.commit().await?;
        }
        Ok(wrong)
    }
}

/// What a file has.
struct BalanceFile {
    sha256: String,
    /// Lines with something on them, without the header.
    rows: usize,
    openings: Vec<Opening>,
    wrong: Vec<WrongLine>,
}

impl BalanceFile {
    fn read(path: &Path) -> Result<Self, Failure> {
        let unreadable = |why: &dyn std::fmt::Display| Failure::new(format!("{}: {why}", path.display()));
        let size = std::fs::metadata(path).map_err(|e| unreadable(&e))?.len();
        if size > MAX_BYTES {
            return Err(unreadable(&format!("it has more than {} MiB", MAX_BYTES >> 20)));
        }
        let bytes = std::fs::read(path).map_err(|e| unreadable(&e))?;
        Self::parse(&bytes).map_err(|why| unreadable(&why))
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not in UTF-8")?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let header = text.lines().next().unwrap_or_default();
        let separator = if header.contains(';') { b';' } else { b',' };
        let mut reader = csv::ReaderBuilder::new().delimiter(separator).flexible(true).from_reader(text.as_bytes());
        let names: Vec<_> = reader.headers().map_err(|e| e.to_string())?.iter().map(str::trim).collect();
        if names != HEADER {
            return Err(format!("its first line is not `{}`", HEADER.join(",")));
        }
        let sha256 = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let mut file = Self { sha256, rows: 0, openings: Vec::new(), wrong: Vec::new() };
        for record in reader.records() {
            let record = record.map_err(|e| e.to_string())?;
            let line = record.position().map_or(0, |at| i32::try_from(at.line()).unwrap_or(i32::MAX));
            file.rows += 1;
            if file.rows > MAX_ROWS {
                return Err(format!("it has more than {MAX_ROWS} rows"));
            }
            let fields: Vec<&str> = record.iter().collect();
            let read = match fields.try_into() {
                Ok(fields) => opening::read(line, fields),
                Err(_) => Err(WrongLine { line, why: format!("harus tiga kolom: {}", HEADER.join(", ")) }),
            };
            match read {
                Ok(opening) => file.openings.push(opening),
                Err(wrong) => file.wrong.push(wrong),
            }
        }
        file.wrong.extend(opening::doubles(&file.openings));
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<(usize, Vec<i64>, Vec<i32>), String> {
        let file = BalanceFile::parse(text.as_bytes())?;
        let amounts = file.openings.iter().map(|opening| opening.amount).collect();
        Ok((file.rows, amounts, file.wrong.iter().map(|wrong| wrong.line).collect()))
    }

    #[test]
    fn commas_and_semicolons_a_byte_order_mark_and_blank_lines_are_taken() {
        let expected = Ok((2, vec![50_000, 7], vec![]));
        for text in [
            "telp,nama,saldo\n081234567890,Siti Rahma,50000\n81234567891,,7\n",
            "\u{feff}telp;nama;saldo\r\n081234567890;\"Rahma; Siti\";50000\r\n\r\n81234567891;;7",
        ] {
            assert_eq!(parsed(text), expected, "{text:?}");
        }
        assert_eq!(parsed("telp,nama,saldo\n"), Ok((0, vec![], vec![])));
    }

    #[test]
    fn each_wrong_line_is_named() {
        let text = "telp,nama,saldo\n81234567890,Siti,50.000\n81234567891,Budi,1\n81234567892\n81234567891,Budi,2\n";
        assert_eq!(parsed(text), Ok((4, vec![1, 2], vec![2, 4, 5])));
        for text in ["", "nama,telp,saldo\n", "telp,nama\n", "\u{feff}"] {
            assert!(parsed(text).is_err(), "{text:?}");
        }
        assert!(BalanceFile::parse(b"telp,nama,saldo\n81234567890,\xff,1\n").is_err_and(|why| why.contains("UTF-8")));
    }
}
