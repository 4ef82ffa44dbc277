//! epayment
