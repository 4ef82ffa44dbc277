//! akun
