//! Schemas of values that are parsed by hand: each matches what its parser accepts, and nothing else. The patterns are those of
//! ECMA-262, as JSON Schema requires (2020-12 validation, §6.3.3).

use nyala_core::board::attention::Kind;
use nyala_core::complaint::{self, MAX_NOTE_CHARS, Status};
use nyala_core::domain::id::{self, MAX_DIGITS};
use nyala_core::domain::name::MAX_LETTERS;
use nyala_core::domain::telp::COUNTRY_CODE;
use nyala_core::domain::text::{MAX_NAME_CHARS, MAX_REASON_CHARS, MAX_SIZE_CHARS};
use nyala_core::schema::{DIGITS, describe, number, text};
use nyala_identity::push::endpoint;
use utoipa::openapi::schema::{KnownFormat, Object, ObjectBuilder, SchemaFormat, SchemaType, Type};

use super::input::Filter;

/// The characters that `str::trim` removes: Unicode's White_Space.
const BLANK: &str = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000";
/// Letters, digits and signs that `text::is_readable_word` accepts in any position. It accepts more: combining marks and variation
/// selectors behind a visible character, joiners between two, and all other scripts and emoji.
const VISIBLE: &str = r"!-~\xa1-\xac\xae-\u02ff\u0370-\u0482\u048a-\u0530\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3";
/// Invisible characters, which `domain::code` ignores.
const UNSEEN: &str = r"\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff";
/// Characters that `domain::code::characters` skips beside both, and the digits that it knows.
const DASH: &str = r"\u2010-\u2015\u2212-";
const CODE_DIGIT: &str = r"[0-9\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]";

/// A name of an outlet, a service, a machine, a package or a place.
pub enum ShortText {}
/// The size of a machine.
pub enum SizeText {}
/// An address, or nothing.
pub enum OptionalText {}
/// A time zone.
pub enum ZoneName {}
/// An action or an object of the audit log, in a query.
pub enum AuditWord {}
/// A kind of what needs a person.
pub enum AttentionKind {}
/// An id, as answers have it.
pub enum PlainId {}
/// Ids of machines in a query.
pub enum MachineIds {}
/// A day.
pub enum CalendarDay {}
/// When a business day begins.
pub enum DayStart {}
/// A time of day.
pub enum TimeOfDay {}
/// The end of some hours of a day.
pub enum EndOfHours {}
/// What a machine's name begins with, when a number follows.
pub enum NamePrefix {}
/// Part of a name, or nothing.
pub enum SearchText {}
/// Why an operator did it.
pub enum Reason {}
/// What a customer adds to a complaint.
pub enum ComplaintNote {}
/// What went wrong, in a complaint.
pub enum ComplaintReason {}
/// A zip archive.
pub enum ZipFile {}
/// What became of a complaint.
pub enum ComplaintStatus {}
/// A customer's name.
pub enum FullName {}
/// A code that was sent by WhatsApp.
pub enum SixDigits {}
/// A number, or nothing.
pub enum NumberOrNothing {}
/// What numbers begin with.
pub enum NumberPrefix {}

/// Where a browser takes pushes.
pub enum PushEndpoint {}
/// A browser's public key for them.
pub enum PushKey {}
/// The secret that a browser shares with servers that push to it.
pub enum PushAuth {}

const HOURS: &str = "([01][0-9]|2[0-3]):[0-5][0-9]";
/// Characters that the number after a [`NamePrefix`] takes.
pub const NUMBER_CHARS: usize = 6;
/// The longest action or object that can be asked for, in bytes.
pub const MAX_AUDIT_WORD_BYTES: usize = 100;
/// The longest [`SearchText`], in characters.
pub const MAX_SEARCH_CHARS: usize = 100;

describe! {
    Filter => ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::Integer, Type::String, Type::Null]))
        .minimum(Some(1)).maximum(Some(id::MAX)).pattern(Some(format!("^({DIGITS}{{0,{}}})?$", MAX_DIGITS - 1)))
        .description(Some("An id, or nothing.")).build();
    NumberOrNothing => text(number(true)).examples(["81234567890"]).build();
    NumberPrefix => text(format!(r"^[{BLANK}]*(\+?{COUNTRY_CODE}|0)?([2-57-9][0-9]{{0,7}}|6([013-9][0-9]{{0,6}})?)[{BLANK}]*$"))
        .description(Some("1 to 8 digits, in the forms of a number.")).examples(["8990"]).build();
    SixDigits => text(six_digits()).description(Some("Six digits, of Arabic and East Asian keyboards, too; blanks, dashes and what nobody sees are skipped."))
        .examples(["123456"]).build();
    FullName => text(full_name()).description(Some(format!("At least two words, together at most {MAX_LETTERS} characters without the blanks; {ALSO_TAKEN}.")))
        .examples(["Siti Rahmawati"]).build();
    ShortText => text(trimmed(MAX_NAME_CHARS)).description(Some(between(MAX_NAME_CHARS))).examples(["Cuci Kilat"]).build();
    SizeText => text(trimmed(MAX_SIZE_CHARS)).description(Some(between(MAX_SIZE_CHARS))).examples(["14 kg"]).build();
    OptionalText => text(format!("^({})?$", trimmed(MAX_REASON_CHARS).trim_start_matches('^').trim_end_matches('$')))
        .description(Some("Up to 500 characters")).examples(["Jalan Dago 12"]).build();
    // Of all that are accepted, those of Indonesia.
    ZoneName => ObjectBuilder::new().schema_type(Type::String)
        .enum_values(Some(["Asia/Jakarta", "Asia/Pontianak", "Asia/Makassar", "Asia/Jayapura"]))
        .description(Some("A time zone of IANA's database; others are accepted, too")).build();
    AuditWord => text(format!("^[!-~]{{1,{MAX_AUDIT_WORD_BYTES}}}$")).examples(["mesin.tutup"]).build();
    MachineIds => text(format!("^{DIGITS}{{0,{max}}}(,{DIGITS}{{0,{max}}}){{0,9}}$", max = MAX_DIGITS - 1)).examples(["1,2"]).build();
    CalendarDay => ObjectBuilder::new().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(KnownFormat::Date)))
        .pattern(Some("^[0-9]{4}-[0-9]{2}-[0-9]{2}$")).examples(["2026-11-24"]).build();
    DayStart => text("^((0[0-9]|1[01]):[0-5][0-9]|12:00)$").description(Some("`HH:MM`, at most `12:00`")).examples(["04:00"]).build();
    TimeOfDay => text(format!("^{HOURS}$")).description(Some("`HH:MM`")).examples(["06:00"]).build();
    EndOfHours => text(format!("^({HOURS}|24:00)$")).description(Some("`HH:MM`, or `24:00`")).examples(["09:00"]).build();
    NamePrefix => text(trimmed(MAX_NAME_CHARS - NUMBER_CHARS)).description(Some(between(MAX_NAME_CHARS - NUMBER_CHARS)))
        .examples(["Mesin"]).build();
    PlainId => ObjectBuilder::new().schema_type(SchemaType::new(Type::Integer)).format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(1)).maximum(Some(id::MAX)).build();
    AttentionKind => text(format!("^({})$", Kind::ALL.map(Kind::as_str).join("|"))).examples(["offline"]).build();
    Reason => text(trimmed(MAX_REASON_CHARS)).description(Some(between(MAX_REASON_CHARS))).examples(["mesin rusak"]).build();
    ComplaintNote => text(maybe(MAX_NOTE_CHARS)).examples(["Lampu menyala, air tidak masuk"]).build();
    ComplaintReason => text(format!("^({})$", complaint::Reason::ALL.map(complaint::Reason::as_str).join("|"))).examples(["berhenti"]).build();
    ZipFile => ObjectBuilder::new().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary))).build();
    ComplaintStatus => text(format!("^({})$", Status::ALL.map(Status::as_str).join("|"))).examples(["terbuka"]).build();
    SearchText => text(search()).build();
    PushEndpoint => text(push_endpoint()).max_length(Some(endpoint::MAX_BYTES))
        .description(Some("An address at the push service of Google, Mozilla, Apple or Microsoft.")).build();
    // The bits beyond the 65 and 16 bytes are zero.
    PushKey => text("^B[A-P][A-Za-z0-9_-]{84}[AEIMQUYcgkosw048]$")
        .description(Some("An uncompressed point of P-256: 65 bytes, base64url without padding.")).build();
    PushAuth => text("^[A-Za-z0-9_-]{21}[AQgw]$").description(Some("16 bytes, base64url without padding.")).build();
}

/// Added to descriptions of texts, beside their pattern.
const ALSO_TAKEN: &str = "each word begins with something visible. The pattern has common letters: those of all other scripts, emoji, combining \
    marks behind a letter and joiners between two are taken, too; control, hidden and private characters are not";

fn between(max_chars: usize) -> String {
    format!("1 to {max_chars} characters without the blanks around them; {ALSO_TAKEN}.")
}

/// `domain::pin::Pin::parse`.
fn six_digits() -> String {
    let skipped = format!("[{BLANK}{UNSEEN}{DASH}]*");
    format!("^{skipped}({CODE_DIGIT}{skipped}){{6}}$")
}

/// `domain::text::parse`.
fn trimmed(max_chars: usize) -> String {
    format!("^[{BLANK}]*{}[{BLANK}]*$", readable(max_chars))
}

/// The `search` of `get_layanan`.
fn search() -> String {
    maybe(MAX_SEARCH_CHARS)
}

/// A text that may be left empty.
fn maybe(max_chars: usize) -> String {
    format!("^[{BLANK}]*({}[{BLANK}]*)?$", readable(max_chars))
}

/// 1 to `max_chars` characters, no blank at either end.
fn readable(max_chars: usize) -> String {
    format!("[{VISIBLE}]([{VISIBLE} ]{{0,{}}}[{VISIBLE}])?", max_chars - 2)
}

/// Regular expression for the names that `domain::name::Name::parse` accepts: at least two words, and as many letters as it allows.
fn full_name() -> String {
    format!("^(?={}){}$", two_words(), letters())
}

fn two_words() -> String {
    format!("[{BLANK}]*[^{BLANK}]+[{BLANK}]+[^{BLANK}]")
}

fn letters() -> String {
    format!("[{BLANK}]*([{VISIBLE}][{BLANK}]*){{2,{MAX_LETTERS}}}")
}

/// `push::endpoint::Endpoint::parse`, without additional hosts.
fn push_endpoint() -> String {
    let [hosts, domains] = [endpoint::HOSTS.join("|"), endpoint::DOMAINS.join("|")].map(|names| names.replace('.', r"\."));
    let marks = endpoint::PATH_MARKS.replace('-', "");
    format!("^https://({hosts}|([a-z0-9-]+\\.)+({domains}))/[A-Za-z0-9{marks}-]*$")
}

/// Parts of rules that connect a body's fields: an object in which `field` is present and matches `what` …
pub fn with(field: &str, what: Object) -> ObjectBuilder {
    ObjectBuilder::new().property(field, what).required(field)
}

/// … a `field` that is absent or null: the value of a property; …
pub fn null() -> Object {
    Object::with_type(Type::Null)
}

/// … or one that is an id.
pub fn id() -> Object {
    ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::Integer, Type::String])).build()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use nyala_core::domain::cursor::Cursor;
    use nyala_core::domain::id::Id;
    use nyala_core::domain::name::Name;
    use nyala_core::domain::pin::Pin;
    use nyala_core::domain::receipt_number::ReceiptNumber;
    use nyala_core::domain::telp::Telp;
    use nyala_core::domain::text;
    use nyala_core::prices::ClockTime;
    use nyala_identity::push::endpoint::Endpoint;
    use nyala_identity::push::subscription;
    use proptest::prelude::*;
    use proptest::string::string_regex;
    use proptest::test_runner::{Config, TestRunner};
    use regex::Regex;

    use super::*;
    use crate::api::transaksi::get_layanan::search_of;
    use crate::api::transaksi::masalah::note;
    use crate::ops::machine::sticker::machines;
    use crate::ops::people::audit_log::is_word;
    use crate::ops::people::customers_bulk::PhonePrefix;
    use utoipa::PartialSchema;

    /// Texts that are close to what a pattern accepts: matching ones, and those with one character more, less or changed.
    fn near(pattern: &str) -> impl Strategy<Value = String> + use<> {
        let inner = pattern.trim_start_matches('^').trim_end_matches('$').to_owned();
        let right = string_regex(&inner).unwrap();
        let odd = prop_oneof![
            Just(' '),
            Just('\n'),
            Just('0'),
            Just('6'),
            Just('+'),
            Just('\u{2028}'),
            Just('\u{200b}'),
            any::<char>()
        ];
        let changed =
            (string_regex(&inner).unwrap(), any::<prop::sample::Index>(), odd, 0..3).prop_map(|(text, at, odd, how)| {
                let mut chars: Vec<char> = text.chars().collect();
                let at = at.index(chars.len() + 1);
                match how {
                    0 => chars.insert(at, odd),
                    1 if at < chars.len() => drop(chars.remove(at)),
                    _ if at < chars.len() => chars[at] = odd,
                    _ => chars.push(odd),
                }
                chars.into_iter().collect()
            });
        prop_oneof![right, changed, "\\PC{0,12}"]
    }

    /// Checks that schema and parser accept the same texts, for texts near `pattern`.
    fn same(pattern: &str, takes: impl Fn(&str) -> bool, parses: impl Fn(&str) -> bool) {
        let (yes, no) = (Cell::new(0), Cell::new(0));
        let judge = |text: String| {
            let taken = takes(&text);
            prop_assert_eq!(taken, parses(&text), "{:?} and {}", text, pattern);
            let seen = if taken { &yes } else { &no };
            seen.set(seen.get() + 1);
            Ok(())
        };
        let unkept = Config { failure_persistence: None, ..Config::default() };
        TestRunner::new(unkept).run(&near(pattern), judge).unwrap();
        assert!(yes.get() > 0 && no.get() > 0, "{pattern}: {} taken, {} refused", yes.get(), no.get());
    }

    fn same_as<T: PartialSchema>(parses: impl Fn(&str) -> bool) {
        let schema = serde_json::to_value(T::schema()).unwrap();
        let pattern = schema["pattern"].as_str().unwrap();
        let compiled = Regex::new(pattern).unwrap();
        same(pattern, |text| compiled.is_match(text), parses);
    }

    fn reads<T: serde::de::DeserializeOwned>(text: &str) -> bool {
        serde_json::from_value::<T>(text.into()).is_ok()
    }

    #[test]
    fn each_pattern_takes_what_its_parser_takes() {
        same_as::<Id>(reads::<Id>);
        same_as::<Filter>(reads::<Filter>);
        same_as::<ReceiptNumber>(reads::<ReceiptNumber>);
        same_as::<Telp>(reads::<Telp>);
        same_as::<SixDigits>(|text| Pin::parse(text).is_some());
        same_as::<NumberOrNothing>(|text| text.is_empty() || Telp::parse(text).is_ok());
        same_as::<NumberPrefix>(|text| PhonePrefix::parse(text).is_ok());
        same_as::<AuditWord>(is_word);
        same_as::<MachineIds>(|text| machines(text).is_some());
        same_as::<TimeOfDay>(|text| ClockTime::parse(text).is_some_and(|time| time != ClockTime::DAY_END));
        same_as::<EndOfHours>(|text| ClockTime::parse(text).is_some());
        same_as::<PushEndpoint>(|text| Endpoint::parse(text, &[]).is_some());
        same_as::<PushKey>(|text| subscription::key(text).is_some());
        same_as::<PushAuth>(|text| subscription::secret(text).is_some());
        same_as::<Cursor>(|text| text.is_empty() || Cursor::parse(text).is_some());
    }

    /// Patterns of texts are narrower than their parsers: every text that they accept is accepted.
    #[test]
    fn each_text_pattern_accepts_only_what_its_parser_accepts() {
        let within = |pattern: &str, parses: &dyn Fn(&str) -> bool| {
            let unkept = Config { failure_persistence: None, ..Config::default() };
            let strings = proptest::string::string_regex(pattern.trim_start_matches('^').trim_end_matches('$')).unwrap();
            let judge = |text: String| {
                prop_assert!(parses(&text), "{:?} and {}", text, pattern);
                Ok(())
            };
            TestRunner::new(unkept).run(&strings, judge).unwrap();
        };
        within(&trimmed(MAX_NAME_CHARS), &|text| text::parse("nama", text, MAX_NAME_CHARS).is_ok());
        within(&trimmed(MAX_SIZE_CHARS), &|text| text::parse("ukuran", text, MAX_SIZE_CHARS).is_ok());
        within(&search(), &|text| search_of(text).is_ok());
        within(&maybe(MAX_NOTE_CHARS), &|text| note(text).is_ok());
        within(&letters(), &|text| text.split_whitespace().count() < 2 || Name::parse(text).is_ok());
    }
}
