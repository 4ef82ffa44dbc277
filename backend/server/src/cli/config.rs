//! `nyala config check`.

use clap::Subcommand;

use super::{CommonArgs, Failure, context, output};

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print the settings in effect, secrets as ***; fails with the reason when they are refused
    Check,
}

impl ConfigCommand {
    pub fn run(self, common: &CommonArgs) -> Result<(), Failure> {
        let Self::Check = self;
        let settings = context::settings(common)?;
        for setting in &settings.ignored {
            output::warn(&format!("{setting} is ignored: this setting was removed, and it is empty"));
        }
        output::print(&toml::to_string(&settings)?, output::NOTHING)
    }
}
