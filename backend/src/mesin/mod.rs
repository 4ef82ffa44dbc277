//! mesin
