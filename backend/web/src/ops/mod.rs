//! Operators' API (docs/contract.md §4): keys with roles, all changes audited, money moved once per `Idempotency-Key`.

pub mod approval;
pub mod days;
pub mod give_back;
pub mod hapus;
pub mod idempotency;
pub mod izin;
pub mod keluar;
pub mod key;
pub mod layanan;
pub mod masuk;
pub mod mesin;
pub mod mesin_bulk;
pub mod mesin_perangkat;
pub mod mesin_status;
pub mod mesin_stop;
pub mod outlet;
pub mod owner;
pub mod paket;
pub mod pasang;
pub mod payee;
pub mod pelanggan_bulk;
pub mod pelanggan_cari;
pub mod pemakaian;
pub mod perangkat;
pub mod perangkat_saya;
pub mod petugas;
pub mod refund;
pub mod rows;
pub mod scope;
pub mod shift;
pub mod shift_catatan;
pub mod shift_kas;
pub mod shift_tutup;
pub mod soket;
pub mod topup;
pub mod topup_batal;
pub mod topup_list;

use actix_web::Route;
use actix_web::web::{self, ServiceConfig};

/// The routes below `/ops/v1`, which [`key::middleware`] protects. `wrong_method` responds to methods that no route accepts.
pub fn routes(cfg: &mut ServiceConfig, wrong_method: Route) {
    cfg.route("/owner", web::post().to(owner::owner))
        .route("/outlet", web::post().to(outlet::outlet))
        .route("/layanan", web::post().to(layanan::layanan))
        .route("/mesin", web::post().to(mesin::mesin))
        .route("/mesin/bulk", web::post().to(mesin_bulk::mesin_bulk))
        // Responds to other methods here; otherwise `bulk` would be parsed as a machine's id.
        .service(web::resource("/mesin/bulk").default_service(wrong_method))
        .route("/mesin/{id}", web::get().to(mesin_status::mesin_status))
        .route("/mesin/{id}/stop", web::post().to(mesin_stop::mesin_stop))
        .route("/mesin/{id}/perangkat", web::post().to(mesin_perangkat::mesin_perangkat))
        .route("/topup", web::post().to(topup::topup))
        .route("/topup", web::get().to(topup_list::topup_list))
        .route("/topup/{id}", web::get().to(topup_list::topup_one))
        .route("/topup/{id}/batal", web::post().to(topup_batal::topup_batal))
        .route("/pemakaian", web::get().to(pemakaian::pemakaian))
        .route("/hapus", web::post().to(hapus::hapus))
        .route("/refund", web::post().to(refund::refund))
        .route("/pelanggan/bulk", web::post().to(pelanggan_bulk::pelanggan_bulk))
        .route("/pelanggan/cari", web::post().to(pelanggan_cari::pelanggan_cari))
        .route("/paket", web::get().to(paket::list))
        .route("/paket", web::post().to(paket::add))
        .route("/paket/{id}", web::post().to(paket::change));
    cfg.route("/pasang", web::post().to(pasang::pasang))
        .route("/masuk", web::post().to(masuk::masuk))
        .route("/keluar", web::post().to(keluar::keluar))
        .route("/izin", web::post().to(izin::izin))
        .route("/soket", web::post().to(soket::soket))
        .route("/petugas", web::get().to(petugas::list))
        .route("/petugas", web::post().to(petugas::hire))
        .route("/petugas/{id}/cabut", web::post().to(petugas::dismiss))
        .route("/petugas/{id}/reset_pin", web::post().to(petugas::reset_pin))
        .route("/petugas/{id}/buka_kunci", web::post().to(petugas::open_lock))
        .route("/perangkat", web::get().to(perangkat::list))
        .route("/perangkat", web::post().to(perangkat::invite))
        .route("/perangkat/saya", web::get().to(perangkat_saya::perangkat_saya))
        .route("/perangkat/{id}/cabut", web::post().to(perangkat::end))
        .route("/perangkat/{id}/pasang", web::post().to(perangkat::invite_again))
        .route("/shift", web::get().to(shift::now))
        .route("/shift", web::post().to(shift::open))
        .route("/shift/kas", web::post().to(shift_kas::move_cash))
        .route("/shift/tutup", web::post().to(shift_tutup::close))
        .route("/shift/{id}/catatan", web::post().to(shift_catatan::note));
}
