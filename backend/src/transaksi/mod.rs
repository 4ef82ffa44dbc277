//! transaksi
