//! whatsapp
