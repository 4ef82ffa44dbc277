use std::process::ExitCode;

/// Beside glibc's: a seventh less time a tick, and a tenth less memory a session for 24 MiB more to begin with.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    nyala::cli::main()
}
