//! The OpenAPI document, made from the handlers' annotations; `backend/server/openapi.json` is its snapshot, from which the app's types
//! are generated.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write as _;
use std::sync::LazyLock;

use actix_web::http::header::{
    AcceptEncoding, CACHE_CONTROL, ContentEncoding, ETag, Encoding, EntityTag, Header as _, IF_NONE_MATCH, IfNoneMatch, VARY,
};
use actix_web::middleware::from_fn;
use actix_web::web::{self, Bytes, ServiceConfig, get};
use actix_web::{HttpRequest, HttpResponse};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::{AllOfBuilder, Object, Schema, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Content, HeaderBuilder, PathItem, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{Modify, OpenApi, ToSchema};
use utoipa_swagger_ui::{Config, SwaggerUi};

use nyala_identity::staff::browser;
use nyala_web::api::epayment::tagihan::NewTagihanSaya;
use nyala_web::api::{akun, auth, dashboard, epayment, outlet, push, transaksi};
use nyala_web::dev;
use nyala_web::health;
use nyala_web::http::answer::Empty;
use nyala_web::http::dev_guard;
use nyala_web::http::error::AppError;
use nyala_web::moves;
use nyala_web::ops;
use nyala_web::ops::bill::make as tagihan;
use nyala_web::ops::bill::make::NewTagihan;
use nyala_web::ops::people::api_keys::Kunci;
use nyala_web::ops::people::customer_search as pelanggan_cari;
use nyala_web::ops::people::customer_search::FindPelanggan;
use nyala_web::ops::people::customers_bulk as pelanggan_bulk;
use nyala_web::ops::people::customers_bulk::ManyPelanggan;
use nyala_web::ops::people::staff as petugas;
use nyala_web::ops::people::staff::Petugas;
use nyala_web::ops::till::browsers as perangkat;
use nyala_web::ops::till::browsers::Perangkat;
use nyala_web::ops::topup::sell as topup;
use nyala_web::ops::topup::sell::TopUp;
use nyala_web::qris;
use nyala_web::qris::make::amount_or_package;
use nyala_web::security_txt;

/// Every route there is; a test holds it against the router.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Nyala",
        description = "Self-service laundry machines paid from prepaid balances. Every JSON answer is an envelope `{status, message, data}`; \
                       ids are accepted as numbers and as decimal strings."
    ),
    paths(
        auth::login::login,
        auth::logout::logout,
        auth::register::register,
        auth::request_otp::request_otp,
        auth::request_otp_forgot_password::request_otp_forgot_password,
        auth::forgot_password::forgot_password,
        dashboard::get_dashboard::get_dashboard,
        dashboard::get_user_epayment_by_id_customer_global::get_user_epayment_by_id_customer_global,
        dashboard::customer_global::customer_global,
        transaksi::get_layanan::get_layanan,
        transaksi::create_snap_transaksi::create_snap_transaksi,
        transaksi::get_epayment::get_epayment,
        transaksi::list_history::list_history,
        transaksi::get_detail_snap_transaksi::get_detail_snap_transaksi,
        transaksi::get_detail_snap_hapus::get_detail_snap_hapus,
        transaksi::get_qrcode::get_qrcode,
        transaksi::terakhir::terakhir,
        transaksi::ambil::ambil,
        transaksi::masalah::masalah,
        epayment::get_epayment::get_epayment,
        epayment::get_detail_batal::get_detail_batal,
        epayment::get_detail_penarikan::get_detail_penarikan,
        epayment::get_detail_pindah::get_detail_pindah,
        epayment::get_detail_refund::get_detail_refund,
        epayment::get_detail_saldo_awal::get_detail_saldo_awal,
        akun::data::data,
        akun::hapus::hapus,
        epayment::qris::outlets,
        epayment::tagihan::make,
        epayment::tagihan::one,
        epayment::tagihan::cancel,
        akun::update_nama::update_nama,
        akun::request_otp_password::request_otp_password,
        akun::update_password::update_password,
        akun::pindah::send_codes,
        akun::pindah::pindah,
        akun::pindah::waits,
        akun::pindah::refuse,
        outlet::list::list,
        outlet::machines::machines,
        outlet::call::panggil,
        outlet::call::panggilan,
        outlet::call::berhenti,
        push::kunci::kunci,
        push::langganan::langganan,
        push::berhenti::berhenti,
        ops::shop::owner::owner,
        ops::shop::outlet::list,
        ops::shop::outlet::add,
        ops::shop::outlet::change,
        ops::shop::outlet_closing::close,
        ops::shop::outlet_closing::open,
        ops::shop::readiness::siap,
        ops::shop::service::list,
        ops::shop::service::add,
        ops::shop::service::change,
        ops::machine::install::mesin,
        ops::machine::bulk::mesin_bulk,
        ops::people::me::saya,
        ops::board::snapshot::board,
        ops::board::snapshot::entries,
        ops::board::taken::take,
        ops::alerts::choice::get,
        ops::alerts::choice::set,
        ops::alerts::push::key,
        ops::alerts::push::subscribe,
        ops::alerts::push::stop,
        ops::machine::ask::ask,
        ops::machine::detail::detail,
        ops::machine::change::change,
        ops::machine::change::order,
        ops::machine::closing::close,
        ops::machine::closing::open,
        ops::machine::closing::service,
        ops::machine::sticker::renew,
        ops::machine::sticker::list,
        ops::machine::status::mesin_status,
        ops::machine::stop::mesin_stop,
        ops::machine::test_start::test_start,
        ops::machine::device_key::mesin_perangkat,
        ops::machine::device_key::kunci_mesin,
        ops::topup::sell::topup,
        ops::topup::list::topup_list,
        ops::topup::list::topup_one,
        ops::topup::reverse::topup_batal,
        ops::money_out::payout::hitung,
        ops::money_out::payout::tarik,
        ops::money_out::move_number::pindah,
        ops::bill::make::make,
        ops::bill::list::list,
        ops::bill::list::one,
        ops::bill::end::cancel,
        ops::bill::end::settle,
        ops::refund::list::pemakaian,
        ops::refund::issue::hapus,
        ops::refund::issue::refund,
        ops::complaint::list::keluhan,
        ops::complaint::reject::tolak,
        ops::people::customers_bulk::pelanggan_bulk,
        ops::people::customer_search::pelanggan_cari,
        ops::people::customer::customer,
        ops::people::customer::history,
        ops::shop::package::list,
        ops::shop::package::add,
        ops::shop::package::change,
        ops::till::pair::pasang,
        ops::till::this_browser::perangkat_saya,
        ops::till::log_in::masuk,
        ops::till::log_out::keluar,
        ops::till::approve::izin,
        ops::till::socket::soket,
        ops::till::socket::papan,
        ops::people::staff::list,
        ops::people::staff::hire,
        ops::people::staff::dismiss,
        ops::people::staff::reset_pin,
        ops::people::staff::open_lock,
        ops::people::api_keys::list,
        ops::people::api_keys::add,
        ops::people::api_keys::revoke,
        ops::people::audit_log::audit,
        ops::till::browsers::list,
        ops::till::browsers::invite,
        ops::till::browsers::end,
        ops::till::browsers::invite_again,
        ops::shift::open::now,
        ops::shift::open::open,
        ops::shift::cash::move_cash,
        ops::shift::close::close,
        ops::shift::note::note,
        ops::figures::summary::ringkasan,
        ops::figures::report::harian,
        ops::figures::report::mesin,
        ops::figures::report::shift,
        ops::figures::report::saldo,
        ops::figures::report::qris,
        ops::figures::usage::pemakaian,
        qris::notify::midtrans,
        qris::notify::simulated,
        health::healthz::healthz,
        health::readyz::readyz,
        health::metrics::metrics,
        moves::page::show,
        moves::page::refuse,
        security_txt::security_txt,
        dev::whatsapp::whatsapp,
        dev::mesin_fault::mesin_fault,
        dev::qris::orders,
        dev::qris::act,
    ),
    components(schemas(Empty)),
    modifiers(&Keys, &Refusals, &Together)
)]
pub struct ApiDoc;

/// The document as it is served and kept in `backend/server/openapi.json`; the same bytes each time.
pub fn document() -> Result<String, serde_json::Error> {
    ApiDoc::openapi().to_pretty_json().map(|text| text + "\n")
}

/// The methods that the address `pattern` takes, as `Allow` lists them. The few routes that are not in the document are read.
pub fn methods(pattern: &str) -> &'static str {
    static METHODS: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
        let paths = ApiDoc::openapi().paths.paths;
        let described = |item: &PathItem| match (item.get.is_some(), item.post.is_some()) {
            (true, true) => "GET, POST",
            (false, true) => "POST",
            _ => "GET",
        };
        paths.iter().map(|(path, item)| (path.clone(), described(item))).collect()
    });
    METHODS.get(pattern).copied().unwrap_or("GET")
}

/// `/openapi.json`.
pub fn routes(cfg: &mut ServiceConfig) {
    cfg.route("/openapi.json", get().to(openapi_json));
}

/// A page to try the calls on, below `/docs` (development only).
pub fn docs(cfg: &mut ServiceConfig) {
    let pages = SwaggerUi::new("/{_:.*}").config(Config::from("/openapi.json"));
    cfg.service(web::redirect("/docs", "/docs/"))
        .service(web::scope("/docs").wrap(from_fn(dev_guard::middleware)).service(pages));
}

/// The document, compressed once, and its tag, which is of its content: all servers of one version agree.
struct Served {
    plain: Bytes,
    gzip: Bytes,
    tag: String,
}

fn served() -> Option<&'static Served> {
    static SERVED: LazyLock<Option<Served>> = LazyLock::new(|| {
        let plain = document().ok()?;
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(plain.as_bytes()).ok()?;
        let tag = Sha256::digest(plain.as_bytes())[..16].iter().map(|b| format!("{b:02x}")).collect();
        Some(Served { gzip: gzip.finish().ok()?.into(), plain: plain.into(), tag })
    });
    SERVED.as_ref()
}

/// Each encoding has its own tag (RFC 9110 §8.8.3.3).
async fn openapi_json(req: HttpRequest) -> Result<HttpResponse, AppError> {
    let served = served().ok_or_else(|| AppError::internal("the OpenAPI document cannot be written"))?;
    let gzip = AcceptEncoding::parse(&req)
        .is_ok_and(|accepted| accepted.negotiate([Encoding::gzip(), Encoding::identity()].iter()) == Some(Encoding::gzip()));
    let tag = EntityTag::new_strong(if gzip { format!("{}-gzip", served.tag) } else { served.tag.clone() });
    let has = match IfNoneMatch::parse(&req) {
        Ok(IfNoneMatch::Any) => req.headers().contains_key(IF_NONE_MATCH),
        Ok(IfNoneMatch::Items(tags)) => tags.iter().any(|one| one.weak_eq(&tag)),
        Err(_) => false,
    };
    let mut answer = if has { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    answer.insert_header(ETag(tag)).insert_header((VARY, "Accept-Encoding")).insert_header((CACHE_CONTROL, "no-cache"));
    if has {
        return Ok(answer.finish());
    }
    if gzip {
        answer.insert_header(ContentEncoding::Gzip);
    }
    let body = if gzip { &served.gzip } else { &served.plain };
    Ok(answer.content_type("application/json").body(body.clone()))
}

/// The bearers: a customer's token, an operator's key, a session at a till, which is good beside its browser's cookie only.
struct Keys;

impl Modify for Keys {
    fn modify(&self, doc: &mut utoipa::openapi::OpenApi) {
        let components = doc.components.get_or_insert_default();
        let token = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("JWT").build();
        components.add_security_scheme("pelanggan", SecurityScheme::Http(token));
        components.add_security_scheme("operator", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
        components.add_security_scheme("session", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
        components.add_security_scheme("browser", SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new(browser::COOKIE_NAME))));
    }
}

/// Rules between the fields of a body, which the schema of a single field cannot express.
struct Together;

impl Modify for Together {
    fn modify(&self, doc: &mut utoipa::openapi::OpenApi) {
        let schemas = &mut doc.components.get_or_insert_default().schemas;
        let mut bind = |name: Cow<'_, str>, rules: Vec<Schema>| {
            if let Some(fields) = schemas.remove(&*name) {
                let all = rules.into_iter().fold(AllOfBuilder::new().item(fields), AllOfBuilder::item);
                schemas.insert(name.into_owned(), all.into());
            }
        };
        bind(TopUp::name(), topup::together().map(Schema::from).into());
        bind(NewTagihan::name(), tagihan::together().map(Schema::from).into());
        bind(NewTagihanSaya::name(), vec![amount_or_package().into()]);
        bind(FindPelanggan::name(), pelanggan_cari::together().map(Schema::from).into());
        bind(ManyPelanggan::name(), pelanggan_bulk::together().map(Schema::from).into());
        bind(Perangkat::name(), perangkat::together().map(Schema::from).into());
        bind(Kunci::name(), petugas::together().map(Schema::from).into());
        bind(Petugas::name(), petugas::together().map(Schema::from).into());
    }
}

/// The refusals that follow from what a call takes, so that no annotation repeats them.
struct Refusals;

impl Modify for Refusals {
    fn modify(&self, doc: &mut utoipa::openapi::OpenApi) {
        for item in doc.paths.paths.values_mut() {
            for (call, changes) in [(&mut item.get, false), (&mut item.post, true)] {
                if let Some(call) = call {
                    refusals_of(call, changes);
                }
            }
        }
    }
}

fn refusals_of(call: &mut Operation, changes: bool) {
    let takes =
        |place: &str| call.parameters.iter().flatten().any(|p| serde_json::to_value(&p.parameter_in).is_ok_and(|v| v == place));
    let refusals = [
        ("400", "Malformed, missing or out of range", call.request_body.is_some() || takes("query")),
        ("401", "No or a bad token or key", call.security.is_some()),
        ("403", "Sent by a page of another site", changes),
        ("404", "Unknown, or another's", takes("path")),
        ("500", "A defect of the server", true),
        ("503", "The database or a queue cannot take it now, or the server is overloaded and has done nothing", true),
    ];
    for (status, description, _) in refusals.into_iter().filter(|(_, _, can)| *can) {
        call.responses.responses.entry(status.to_owned()).or_insert_with(|| refusal(description).into());
    }
    if let Some(RefOr::T(later)) = call.responses.responses.get_mut("429") {
        let seconds = HeaderBuilder::new().schema(Object::with_type(Type::Integer)).description(Some("Seconds"));
        later.headers.insert("Retry-After".to_owned(), seconds.build());
    }
}

fn refusal(description: &str) -> Response {
    let envelope = Content::new(Some(Ref::from_schema_name(Empty::name())));
    ResponseBuilder::new().description(description).content("application/json", envelope).build()
}
