//! CSV for spreadsheets in Indonesia: BOM, `;`, CRLF, quotes where they are needed (RFC 4180). A text that a spreadsheet would take for a formula gets
//! a leading `'`; numbers stay as they are.

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::Bytes;
use csv::{QuoteStyle, Terminator, WriterBuilder};
use futures_util::Stream;
use nyala_core::domain::id::OutletId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::figures::calendar::{Calendar, Day, Period};

use crate::http::error::AppError;

/// Marks the text as UTF-8 for spreadsheets.
pub const BOM: &str = "\u{feff}";

/// A value of a row.
pub enum Cell<'a> {
    Text(&'a str),
    Number(i64),
    Day(Day),
    /// On the wall clock of the outlet.
    Time(Timestamp),
    Empty,
}

impl<'a> Cell<'a> {
    pub fn optional<T>(value: Option<T>, cell: impl FnOnce(T) -> Self) -> Self {
        value.map_or(Self::Empty, cell)
    }

    fn written(&self, calendar: &Calendar) -> String {
        match self {
            Self::Text(value) => text(value),
            Self::Number(number) => number.to_string(),
            Self::Day(day) => day.to_string(),
            Self::Time(at) => calendar.written(*at),
            Self::Empty => String::new(),
        }
    }
}

/// A text that a spreadsheet takes for one.
pub fn text(text: &str) -> String {
    if is_formula(text) { format!("'{text}") } else { text.to_owned() }
}

/// Whether a spreadsheet may take a text for a formula.
fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n'])
}

/// A row of a report: the fields of its JSON are the columns.
pub trait ReportRow {
    const COLUMNS: &'static [&'static str];
    fn cells(&self) -> Vec<Cell<'_>>;
}

/// The columns, all of them last, that are only in the files of outlets with such machines.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extras {
    /// Boards count coins.
    pub coins: bool,
    /// Machines are started by pulses.
    pub pulses: bool,
}

impl Extras {
    fn have(self, column: &str) -> bool {
        match column {
            "koin" | "rupiah_koin" => self.coins,
            "tes_pulsa" => self.pulses,
            _ => true,
        }
    }
}

/// The line with the columns' names.
pub fn header_of<R: ReportRow>(extras: Extras) -> Result<String, AppError> {
    lines([R::COLUMNS.iter().filter(|column| extras.have(column))])
}

/// Rows as lines.
pub fn lines_of<R: ReportRow>(rows: &[R], calendar: &Calendar, extras: Extras) -> Result<String, AppError> {
    lines(rows.iter().map(|row| {
        let cells = R::COLUMNS.iter().zip(row.cells()).filter(|(column, _)| extras.have(column));
        cells.map(|(_, cell)| cell.written(calendar)).collect::<Vec<_>>()
    }))
}

/// Records as lines.
pub fn lines<R>(rows: impl IntoIterator<Item = R>) -> Result<String, AppError>
where
    R: IntoIterator,
    R::Item: AsRef<[u8]>,
{
    let mut writer = WriterBuilder::new()
        .delimiter(b';')
        .terminator(Terminator::CRLF)
        .quote_style(QuoteStyle::Necessary)
        .from_writer(Vec::new());
    for row in rows {
        writer.write_record(row).map_err(AppError::internal)?;
    }
    let bytes = writer.into_inner().map_err(|e| AppError::internal(e.to_string()))?;
    String::from_utf8(bytes).map_err(AppError::internal)
}

/// What the file is called.
pub fn file_name(report: &str, idoutlet: OutletId, period: Period) -> String {
    format!("{report}-{idoutlet}-{}-{}.csv", period.first, period.last)
}

/// A file that is sent while it is written.
pub fn download(name: &str, parts: impl Stream<Item = Result<Bytes, AppError>> + 'static) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/csv; charset=utf-8")
        .insert_header((header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .streaming(parts)
}

#[cfg(test)]
mod tests {
    use nyala_core::prices::{ClockTime, Zone};

    use super::*;

    struct Row(Vec<Cell<'static>>);

    impl ReportRow for Row {
        const COLUMNS: &'static [&'static str] = &["a", "b"];
        fn cells(&self) -> Vec<Cell<'_>> {
            self.0
                .iter()
                .map(|cell| match cell {
                    Cell::Text(text) => Cell::Text(text),
                    Cell::Number(n) => Cell::Number(*n),
                    Cell::Time(at) => Cell::Time(*at),
                    _ => Cell::Empty,
                })
                .collect()
        }
    }

    #[test]
    fn hostile_texts_are_texts_and_numbers_stay_bare() {
        let calendar = Calendar { zone: Zone::default(), start: ClockTime::parse("00:00").unwrap() };
        let written = |cell: Cell<'static>| lines_of(&[Row(vec![cell, Cell::Number(-5)])], &calendar, Extras::default()).unwrap();
        for (text, expected) in [
            ("Cuci 01", "Cuci 01;-5\r\n"),
            ("=1+1", "'=1+1;-5\r\n"),
            ("+62", "'+62;-5\r\n"),
            ("-1", "'-1;-5\r\n"),
            ("@x", "'@x;-5\r\n"),
            ("\t=1", "'\t=1;-5\r\n"),
            ("\r=1", "\"'\r=1\";-5\r\n"),
            ("\n=1", "\"'\n=1\";-5\r\n"),
            ("a;b", "\"a;b\";-5\r\n"),
            ("\"a\"", "\"\"\"a\"\"\";-5\r\n"),
            ("=\"a\";b", "\"'=\"\"a\"\";b\";-5\r\n"),
            ("a=1,2", "a=1,2;-5\r\n"),
            ("", ";-5\r\n"),
        ] {
            assert_eq!(written(Cell::Text(text)), expected, "{text:?}");
        }
        assert_eq!(written(Cell::Time(Timestamp::from_ms(0))), "1970-01-01 07:00:00;-5\r\n");
        assert_eq!(written(Cell::Empty), ";-5\r\n");
        assert_eq!(header_of::<Row>(Extras::default()).unwrap(), "a;b\r\n");
    }
}
