//! pembelian
