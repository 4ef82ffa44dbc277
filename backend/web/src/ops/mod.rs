//! Operators' API (docs/contract.md §4): keys with roles, all changes audited, money moved once per `Idempotency-Key`.

pub mod alerts;
pub mod approval;
pub mod bill;
pub mod board;
pub mod complaint;
pub mod days;
pub mod figures;
pub mod idempotency;
pub mod machine;
pub mod money_out;
pub mod people;
pub mod refund;
pub mod rows;
pub mod scope;
pub mod shift;
pub mod shop;
pub mod till;
pub mod topup;

use actix_web::Route;
use actix_web::web::{self, ServiceConfig};

/// The routes below `/ops/v1`, which [`people::key::middleware`] protects. `wrong_method` responds to methods that no route accepts.
pub fn routes(cfg: &mut ServiceConfig, wrong_method: impl Fn() -> Route) {
    cfg.route("/owner", web::post().to(shop::owner::owner))
        .route("/outlet", web::get().to(shop::outlet::list))
        .route("/outlet", web::post().to(shop::outlet::add))
        .route("/outlet/{id}", web::post().to(shop::outlet::change))
        .route("/outlet/{id}/tutup", web::post().to(shop::outlet_closing::close))
        .route("/outlet/{id}/buka", web::post().to(shop::outlet_closing::open))
        .route("/outlet/{id}/kunci_mesin", web::post().to(machine::device_key::kunci_mesin))
        .route("/outlet/{id}/siap", web::get().to(shop::readiness::siap))
        .route("/outlet/{id}/urut", web::post().to(machine::change::order))
        .route("/layanan", web::get().to(shop::service::list))
        .route("/layanan", web::post().to(shop::service::add))
        .route("/layanan/{id}", web::post().to(shop::service::change))
        .route("/mesin", web::get().to(board::snapshot::board))
        .route("/perhatian", web::get().to(board::snapshot::entries))
        .route("/perhatian/tangani", web::post().to(board::taken::take))
        .route("/mesin", web::post().to(machine::install::mesin))
        .route("/mesin/bulk", web::post().to(machine::bulk::mesin_bulk))
        // Responds to other methods here; otherwise `bulk` would be parsed as a machine's id.
        .service(web::resource("/mesin/bulk").default_service(wrong_method()))
        .route("/mesin/{id}", web::get().to(machine::status::mesin_status))
        .route("/mesin/{id}", web::post().to(machine::change::change))
        .route("/mesin/{id}/rincian", web::get().to(machine::detail::detail))
        .route("/mesin/{id}/tutup", web::post().to(machine::closing::close))
        .route("/mesin/{id}/buka", web::post().to(machine::closing::open))
        .route("/mesin/{id}/tanya", web::post().to(machine::ask::ask))
        .route("/mesin/{id}/uji", web::post().to(machine::test_start::test_start))
        .route("/mesin/{id}/servis", web::post().to(machine::closing::service))
        .route("/mesin/{id}/stiker", web::post().to(machine::sticker::renew))
        .route("/stiker", web::get().to(machine::sticker::list))
        .route("/mesin/{id}/stop", web::post().to(machine::stop::mesin_stop))
        .route("/mesin/{id}/perangkat", web::post().to(machine::device_key::mesin_perangkat))
        .route("/topup", web::post().to(topup::sell::topup))
        .route("/topup", web::get().to(topup::list::topup_list))
        .route("/topup/{id}", web::get().to(topup::list::topup_one))
        .route("/topup/{id}/batal", web::post().to(topup::reverse::topup_batal))
        .route("/tarik", web::post().to(money_out::payout::tarik))
        .route("/pindah", web::post().to(money_out::move_number::pindah))
        .route("/tarik/hitung", web::post().to(money_out::payout::hitung))
        .route("/tagihan", web::post().to(bill::make::make))
        .route("/tagihan", web::get().to(bill::list::list))
        .route("/tagihan/{id}", web::get().to(bill::list::one))
        .route("/tagihan/{id}/batal", web::post().to(bill::end::cancel))
        .route("/tagihan/{id}/selesai", web::post().to(bill::end::settle))
        .route("/pemakaian", web::get().to(refund::list::pemakaian))
        .route("/hapus", web::post().to(refund::issue::hapus))
        .route("/refund", web::post().to(refund::issue::refund))
        .route("/keluhan", web::get().to(complaint::list::keluhan))
        .route("/keluhan/{id}/tolak", web::post().to(complaint::reject::tolak))
        .route("/pelanggan/bulk", web::post().to(people::customers_bulk::pelanggan_bulk))
        .route("/pelanggan/cari", web::post().to(people::customer_search::pelanggan_cari))
        // As above: neither is a customer's id.
        .service(web::resource("/pelanggan/bulk").default_service(wrong_method()))
        .service(web::resource("/pelanggan/cari").default_service(wrong_method()))
        .route("/pelanggan/{id}", web::get().to(people::customer::customer))
        .route("/pelanggan/{id}/riwayat", web::get().to(people::customer::history))
        .route("/paket", web::get().to(shop::package::list))
        .route("/paket", web::post().to(shop::package::add))
        .route("/paket/{id}", web::post().to(shop::package::change));
    cfg.route("/alarm", web::get().to(alerts::choice::get))
        .route("/alarm", web::post().to(alerts::choice::set))
        .route("/push/kunci", web::get().to(alerts::push::key))
        .route("/push/langganan", web::post().to(alerts::push::subscribe))
        .route("/push/berhenti", web::post().to(alerts::push::stop));
    cfg.route("/ringkasan", web::get().to(figures::summary::ringkasan))
        .route("/laporan/harian", web::get().to(figures::report::harian))
        .route("/laporan/mesin", web::get().to(figures::report::mesin))
        .route("/laporan/shift", web::get().to(figures::report::shift))
        .route("/laporan/saldo", web::get().to(figures::report::saldo))
        .route("/laporan/qris", web::get().to(figures::report::qris))
        .route("/laporan/pemakaian", web::get().to(figures::usage::pemakaian));
    cfg.route("/saya", web::get().to(people::me::saya));
    cfg.route("/pasang", web::post().to(till::pair::pasang))
        .route("/masuk", web::post().to(till::log_in::masuk))
        .route("/keluar", web::post().to(till::log_out::keluar))
        .route("/izin", web::post().to(till::approve::izin))
        .route("/soket/papan", web::post().to(till::socket::papan))
        .route("/soket", web::post().to(till::socket::soket))
        .route("/petugas", web::get().to(people::staff::list))
        .route("/petugas", web::post().to(people::staff::hire))
        .route("/petugas/{id}/cabut", web::post().to(people::staff::dismiss))
        .route("/petugas/{id}/reset_pin", web::post().to(people::staff::reset_pin))
        .route("/petugas/{id}/buka_kunci", web::post().to(people::staff::open_lock))
        .route("/kunci", web::get().to(people::api_keys::list))
        .route("/kunci", web::post().to(people::api_keys::add))
        .route("/kunci/{id}/cabut", web::post().to(people::api_keys::revoke))
        .route("/audit", web::get().to(people::audit_log::audit))
        .route("/perangkat", web::get().to(till::browsers::list))
        .route("/perangkat", web::post().to(till::browsers::invite))
        .route("/perangkat/saya", web::get().to(till::this_browser::perangkat_saya))
        .route("/perangkat/{id}/cabut", web::post().to(till::browsers::end))
        .route("/perangkat/{id}/pasang", web::post().to(till::browsers::invite_again))
        .route("/shift", web::get().to(shift::open::now))
        .route("/shift", web::post().to(shift::open::open))
        .route("/shift/kas", web::post().to(shift::cash::move_cash))
        .route("/shift/tutup", web::post().to(shift::close::close))
        .route("/shift/{id}/catatan", web::post().to(shift::note::note));
}
