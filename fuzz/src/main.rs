//! libFuzzer on one target, which `NYALA_FUZZ_TARGET` names: <https://llvm.org/docs/LibFuzzer.html>. `make fuzz` builds and runs it.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use nyala_fuzz::{FuzzTarget, target};

static TARGET: LazyLock<FuzzTarget> = LazyLock::new(|| {
    let name = std::env::var("NYALA_FUZZ_TARGET").unwrap_or_default();
    target(&name).unwrap_or_else(|why| {
        eprintln!("fuzz: NYALA_FUZZ_TARGET: {why}");
        std::process::exit(1)
    })
});

fuzz_target!(init: begin(), |bytes: &[u8]| (TARGET.run)(bytes));

/// Puts the seeds where the search begins, in the folder that `NYALA_FUZZ_SEEDS` names.
fn begin() {
    let Some(folder) = std::env::var_os("NYALA_FUZZ_SEEDS") else { return };
    for (n, seed) in (TARGET.seeds)().iter().enumerate() {
        let path = Path::new(&folder).join(format!("seed-{n}"));
        if let Err(e) = std::fs::write(&path, seed) {
            eprintln!("fuzz: {}: {e}", path.display());
            std::process::exit(1);
        }
    }
}
