//! How the document (`/openapi.json`) describes values of this crate, which parses them by hand: each schema takes what its parser takes, and
//! nothing else. Patterns are those of ECMA-262, as JSON Schema wants them (2020-12 validation, §6.3.3).

use std::borrow::Cow;

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::bill::BillId;
use crate::domain::cursor::{Cursor, MAX_IN_PROGRESS};
use crate::domain::id::{self, MAX_DIGITS, for_each_id};
use crate::domain::receipt_number::ReceiptNumber;
use crate::domain::telp::{COUNTRY_CODE, CountryCode, Telp};
use crate::domain::timestamp::Timestamp;

/// The digits of a positive id.
pub const DIGITS: &str = "0*[1-9][0-9]";

/// Implements the schema of each type by an expression.
#[doc(hidden)]
#[macro_export]
macro_rules! __describe {
    ($($of:ty => $schema:expr;)*) => {
        $(
            impl utoipa::PartialSchema for $of {
                fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                    $schema.into()
                }
            }
            impl utoipa::ToSchema for $of {}
        )*
    };
}
pub use __describe as describe;

describe! {
    ReceiptNumber => text(RECEIPT).description(Some("A receipt number: `SLF` and yymmddHHMMSSmmm.")).examples(["SLF261120180530123"]).build();
    BillId => text("^NYL[0-9A-Z]{20}$").description(Some("The id of a bill.")).examples(["NYL0123456789ABCDEFGHIJ"]).build();
    Telp => text(number(false)).description(Some("A WhatsApp number of Indonesia, with 0, 62, +62 or nothing before it; blanks, dots and \
        dashes are skipped.")).examples(["81234567890"]).build();
    CountryCode => number_or_text().enum_values(Some([json(COUNTRY_CODE), json("+62"), 62.into()])).build();
    Timestamp => ObjectBuilder::new().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .description(Some("RFC 3339, UTC.")).build();
    Cursor => text(sampai()).description(Some("Opaque, from the first page's answer.")).build();
}

/// All ids have one schema, which the document names `Id`.
macro_rules! describe_id {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            impl PartialSchema for id::$name {
                fn schema() -> RefOr<Schema> {
                    number_or_text().minimum(Some(1)).maximum(Some(id::MAX)).pattern(Some(format!("^{DIGITS}{{0,{}}}$", MAX_DIGITS - 1)))
                        .description(Some("An id: a number, or its digits as text.")).examples([1]).build().into()
                }
            }
            impl ToSchema for id::$name {
                fn name() -> Cow<'static, str> {
                    "Id".into()
                }
            }
        )*
    };
}
for_each_id!(describe_id);

const RECEIPT: &str = "^SLF[0-9]{15}$";

pub fn text(pattern: impl Into<String>) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern))
}

pub fn number_or_text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::Integer, Type::String]))
}

pub fn json(text: &str) -> serde_json::Value {
    text.into()
}

/// `domain::telp::Telp::parse`: the country code is never the beginning of the number itself.
pub fn number(or_nothing: bool) -> String {
    let s = "[ .-]*";
    let code = format!(r"{s}(\+{s}6{s}2{s}|0{s}|6{s}2{s})?");
    let digits = format!("([2-57-9]{s}[0-9]{s}|6{s}[013-9]{s})([0-9]{s}){{5,11}}");
    if or_nothing { format!("^({code}{digits})?$") } else { format!("^{code}{digits}$") }
}

/// `domain::cursor::Cursor::parse`: what its `encode` writes, or nothing.
fn sampai() -> String {
    format!(r"^((0|[1-9a-f][0-9a-f]{{0,14}}|[1-7][0-9a-f]{{15}})(\.(0|[1-9a-f][0-9a-f]{{0,15}})){{0,{MAX_IN_PROGRESS}}})?$")
}
