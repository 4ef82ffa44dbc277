//! Values that are parsed once at the door and trusted afterwards.

pub mod id;
pub mod kata_sandi;
pub mod kode_mesin;
pub mod nama;
pub mod no_nota;
pub mod otp;
pub mod rupiah;
pub mod teks;
pub mod telp;
pub mod waktu;
pub mod whole;
