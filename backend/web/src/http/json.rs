//! JSON bodies, read within a size and a time limit. A refusal names the field and the expected value (docs/contract.md §1).

use std::ops::Deref;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest, web};
use futures_util::future::LocalBoxFuture;
use nyala_store::config::HttpSettings;
use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde_json::error::Category;

use super::body::{self, BodyError, BodyLength, Room};
use super::client_ip;
use super::error::AppError;

/// The largest body of a customer's or an operator's call.
pub const BODY_LIMIT_BYTES: usize = 64 * 1024;
/// How long a body may take to arrive, even on a very slow network.
const BODY_WITHIN: Duration = Duration::from_secs(30);

/// A request's body: a JSON object, for any content type. Anything else is a 400.
#[derive(Debug)]
pub struct Json<T>(pub T);

impl<T> Json<T> {
    pub fn into_inner(self) -> T {
        self.0
    }
}

/// For `#[serde(default, deserialize_with)]`: a field that is present, even if it is null.
pub fn even_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(d: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(d).map(Some)
}

impl<T> Deref for Json<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: DeserializeOwned + 'static> FromRequest for Json<T> {
    type Error = AppError;
    type Future = LocalBoxFuture<'static, Result<Self, AppError>>;

    fn from_request(req: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (req, payload) = (req.clone(), payload.take());
        Box::pin(async move {
            let too_large = || AppError::bad_input(format!("isi permintaan lebih dari {BODY_LIMIT_BYTES} byte"));
            let body = read(&req, payload, BODY_LIMIT_BYTES, too_large).await?;
            parse(&body).map(Self)
        })
    }
}

/// A body of at most `max` bytes; `too_large` is the refusal of a larger one.
pub async fn read(
    req: &HttpRequest,
    payload: Payload,
    max: usize,
    too_large: impl Fn() -> AppError,
) -> Result<web::Bytes, AppError> {
    let declared = body::declared(req);
    if declared.is_some_and(|bytes| bytes > max as u64) {
        return Err(too_large());
    }
    let (Some(bodies), Some(http)) = (req.app_data::<web::Data<Room>>(), req.app_data::<web::Data<HttpSettings>>()) else {
        return Err(AppError::internal("the room for bodies is missing"));
    };
    let enter = || bodies.enter(client_ip::counted(req, &http.trusted_proxies));
    let length = BodyLength { declared, max };
    let read = actix_web::rt::time::timeout(BODY_WITHIN, body::read(payload, length, enter));
    let read = read.await.map_err(|_| AppError::bad_input("isi permintaan terlalu lama dikirim, coba lagi"))?;
    read.map_err(|why| match why {
        BodyError::TooLarge => too_large(),
        BodyError::Broken => AppError::bad_input("isi permintaan tidak dapat dibaca"),
        BodyError::NoRoom => AppError::Unavailable,
    })
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, AppError> {
    let mut json = serde_json::Deserializer::from_slice(body);
    if body.trim_ascii_start().first().is_some_and(|first| *first == b'[') {
        // serde would accept an array for a struct, field by field.
        return Err(AppError::bad_input("isi permintaan harus berupa objek JSON, bukan daftar"));
    }
    let value = serde_path_to_error::deserialize(&mut json).map_err(|e| {
        let field = e.path().to_string();
        explain(&field, &of_type::<T>(body, e.into_inner()))
    })?;
    json.end().map_err(|e| explain(".", &e))?;
    Ok(value)
}

/// What is wrong with the type of a field, when the parser says that the text is wrong: for an enum it does, whatever is not a text.
fn of_type<T: DeserializeOwned>(body: &[u8], e: serde_json::Error) -> serde_json::Error {
    let value = if e.is_syntax() { serde_json::from_slice::<serde_json::Value>(body).ok() } else { None };
    value.and_then(|value| T::deserialize(value).err()).unwrap_or(e)
}

/// The parser's reason as a text for customers.
fn explain(path: &str, e: &serde_json::Error) -> AppError {
    if e.classify() != Category::Data {
        return AppError::bad_input(format!("isi permintaan bukan JSON yang benar (baris {}, kolom {})", e.line(), e.column()));
    }
    let text = e.to_string();
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    let quoted = reason.split('`').nth(1).unwrap_or(path);
    let field = if path == "." { "isi permintaan".to_owned() } else { format!("`{path}`") };
    AppError::bad_input(if reason.starts_with("missing field") {
        format!("`{quoted}` wajib diisi")
    } else if reason.starts_with("duplicate field") {
        format!("`{quoted}` ditulis dua kali")
    } else if let Some(choices) = reason.strip_prefix("unknown variant").and_then(|rest| rest.split_once("expected ")) {
        format!(
            "{field} tidak dikenal, pilihannya: {}",
            choices.1.trim_start_matches("one of ").replace('`', "").replace(" or ", " atau ")
        )
    } else if let Some((_, expected)) = reason.split_once(", expected ") {
        format!("{field} harus {}", kind(expected))
    } else {
        format!("{field}: {reason}")
    })
}

/// serde's name of a type as a text for customers. Our own texts are kept.
fn kind(expected: &str) -> &str {
    match expected {
        "a string" | "a borrowed string" | "string or map" => "berupa teks",
        "a boolean" => "true atau false",
        "a map" => "berupa objek",
        "a sequence" => "berupa daftar",
        "f64" | "f32" => "berupa angka",
        "u8" | "u16" | "u32" | "u64" | "usize" => "berupa bilangan bulat, paling sedikit 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "berupa bilangan bulat",
        other if other.starts_with("struct ") => "berupa objek JSON",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use nyala_core::domain::id::OutletId;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Mode {
        Ok,
        Refuse,
    }

    #[derive(Debug, Deserialize)]
    #[allow(dead_code)]
    struct Call {
        telp: String,
        jumlah: i64,
        mode: Option<Mode>,
        idoutlet: Option<OutletId>,
    }

    #[test]
    fn a_refusal_names_the_field_and_what_would_be_right() {
        for (body, message) in [
            ("", "isi permintaan bukan JSON yang benar (baris 1, kolom 0)"),
            (r#"{"telp":"#, "isi permintaan bukan JSON yang benar (baris 1, kolom 8)"),
            (r#"{"telp":"1","jumlah":1} {}"#, "isi permintaan bukan JSON yang benar (baris 1, kolom 25)"),
            (r#"["1",1,null,null]"#, "isi permintaan harus berupa objek JSON, bukan daftar"),
            ("7", "isi permintaan harus berupa objek JSON"),
            ("null", "isi permintaan harus berupa objek JSON"),
            (r#"{"jumlah":1}"#, "`telp` wajib diisi"),
            (r#"{"telp":1,"jumlah":1}"#, "`telp` harus berupa teks"),
            (r#"{"telp":"1","telp":"1"}"#, "`telp` ditulis dua kali"),
            (r#"{"telp":"1","jumlah":1.5}"#, "`jumlah` harus berupa bilangan bulat"),
            (r#"{"telp":"1","jumlah":1,"mode":"loud"}"#, "`mode` tidak dikenal, pilihannya: ok atau refuse"),
            (r#"{"telp":"1","jumlah":1,"mode":1}"#, "`mode` harus berupa teks"),
            (r#"{"telp":"1","jumlah":1,"mode":[]}"#, "`mode` harus berupa teks"),
            (r#"{"telp":"1","jumlah":1,"mode":1"#, "isi permintaan bukan JSON yang benar (baris 1, kolom 31)"),
            (r#"{"telp":"1","jumlah":1,"idoutlet":0}"#, "`idoutlet`: id harus bilangan bulat positif"),
            (r#"{"telp":"1","jumlah":1,"idoutlet":true}"#, "`idoutlet` harus id berupa bilangan bulat positif"),
        ] {
            assert_eq!(parse::<Call>(body.as_bytes()).unwrap_err().to_string(), message, "{body}");
        }
    }
}
