//! Program of a libFuzzer search: <https://llvm.org/docs/LibFuzzer.html>. `run` in a package's folder builds it.

use std::path::Path;
use std::sync::OnceLock;

use super::{FuzzTarget, find};

static TARGET: OnceLock<FuzzTarget> = OnceLock::new();

/// Selects the target that `FUZZ_TARGET` names, and writes its seeds into the folder that `FUZZ_SEEDS` names, where the search starts.
/// With `--targets` on the command line it lists the targets and exits.
pub fn begin(targets: &[FuzzTarget]) {
    if std::env::args().any(|argument| argument == "--targets") {
        targets.iter().for_each(|target| println!("{}", target.name));
        std::process::exit(0);
    }
    if let Err(why) = choose(targets) {
        eprintln!("fuzz: {why}");
        std::process::exit(1);
    }
}

/// Runs the selected target on one input.
pub fn run(bytes: &[u8]) {
    if let Some(target) = TARGET.get() {
        (target.run)(bytes);
    }
}

fn choose(targets: &[FuzzTarget]) -> Result<(), String> {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let target = find(targets, &name)?;
    if let Some(folder) = std::env::var_os("FUZZ_SEEDS") {
        for (n, seed) in (target.seeds)().iter().enumerate() {
            let path = Path::new(&folder).join(format!("seed-{n}"));
            std::fs::write(&path, seed).map_err(|e| format!("{}: {e}", path.display()))?;
        }
    }
    TARGET.get_or_init(|| target);
    Ok(())
}
