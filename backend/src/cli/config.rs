//! `nyala config check`.

use clap::Subcommand;

use super::{Gagal, Umum, konteks};

#[derive(Debug, Subcommand)]
pub enum Config {
    /// Print the settings in effect, secrets as ***; fails with the reason when they are refused
    Check,
}

impl Config {
    pub fn run(self, umum: &Umum) -> Result<(), Gagal> {
        let Self::Check = self;
        print!("{}", toml::to_string(&konteks::settings(umum)?)?);
        Ok(())
    }
}
