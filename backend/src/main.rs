use std::process::ExitCode;

fn main() -> ExitCode {
    nyala::cli::main()
}
