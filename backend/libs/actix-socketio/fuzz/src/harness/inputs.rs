//! Inputs of the tests: a bounded number, the same on every run. The search itself is `fuzz/run`.

#![allow(clippy::expect_used, clippy::panic)] // the tests of each package are made of this

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use super::{FuzzTarget, find};

/// Number of generated inputs for each target, in addition to the kept ones.
const INPUTS: u32 = 5_000;
const SEED: [u8; 32] = *b"the same inputs on every run....";

/// Mutation of an input.
#[derive(Debug, Clone)]
enum Change {
    Flip { at: prop::sample::Index, with: u8 },
    Insert { at: prop::sample::Index, bytes: Vec<u8> },
    Remove { at: prop::sample::Index, bytes: usize },
    Copy { from: prop::sample::Index, to: prop::sample::Index, bytes: usize },
    Cut { at: prop::sample::Index },
}

impl Change {
    fn any() -> impl Strategy<Value = Self> {
        let at = any::<prop::sample::Index>;
        // Bytes that matter to parsers: separators, signs, digits and the ends of ranges.
        let telling = prop::sample::select(b".,;:-_=/\"'{}[]()\\ \n\0\x1e\x7f\xff0123456789eE+".to_vec());
        let byte = prop_oneof![telling, any::<u8>()];
        prop_oneof![
            (at(), 1..=255_u8).prop_map(|(at, with)| Self::Flip { at, with }),
            (at(), vec(byte, 1..8)).prop_map(|(at, bytes)| Self::Insert { at, bytes }),
            (at(), 1..16_usize).prop_map(|(at, bytes)| Self::Remove { at, bytes }),
            (at(), at(), 1..64_usize).prop_map(|(from, to, bytes)| Self::Copy { from, to, bytes }),
            at().prop_map(|at| Self::Cut { at }),
        ]
    }

    fn apply(&self, input: &mut Vec<u8>) {
        let place = |at: &prop::sample::Index, input: &[u8]| at.index(input.len() + 1);
        match self {
            Self::Flip { at, with } => {
                if !input.is_empty() {
                    let at = at.index(input.len());
                    input[at] ^= with;
                }
            }
            Self::Insert { at, bytes } => {
                let at = place(at, input);
                input.splice(at..at, bytes.iter().copied());
            }
            Self::Remove { at, bytes } => {
                let at = place(at, input);
                input.drain(at..input.len().min(at + bytes));
            }
            Self::Copy { from, to, bytes } => {
                let (from, to) = (place(from, input), place(to, input));
                let copied = input[from..input.len().min(from + bytes)].to_vec();
                input.splice(to..to, copied);
            }
            Self::Cut { at } => input.truncate(place(at, input)),
        }
    }
}

/// Seeds and kept inputs, by name.
fn kept(target: &FuzzTarget, package: &Path) -> Vec<(String, Vec<u8>)> {
    let seeds = (target.seeds)().into_iter().enumerate().map(|(n, seed)| (format!("seed {n} of {}", target.name), seed));
    let folder = package.join("found").join(target.name);
    let files = std::fs::read_dir(folder).into_iter().flatten().map(|file| file.expect("a file").path());
    let found = files.map(|path| (path.display().to_string(), std::fs::read(&path).expect("an input")));
    seeds.chain(found).collect()
}

/// Runs the target of that name with its seeds, with all kept inputs in the folder of its `package`, and with generated inputs. Panics
/// if one breaks an invariant.
pub fn try_inputs(targets: &[FuzzTarget], name: &str, package: &str) {
    let target = find(targets, name).expect("a target");
    let kept = kept(&target, Path::new(package));
    for (name, input) in &kept {
        println!("{name}");
        (target.run)(input);
    }
    let config = Config { cases: INPUTS, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &SEED));
    let inputs = (0..kept.len(), vec(Change::any(), 1..6)).prop_map(move |(n, changes)| {
        let mut input = kept[n].1.clone();
        changes.iter().for_each(|change| change.apply(&mut input));
        input
    });
    let tried = runner.run(&inputs, |input| {
        (target.run)(&input);
        Ok(())
    });
    match tried {
        Ok(()) => {}
        Err(TestError::Fail(why, input)) => panic!("{name}: {why}: b\"{}\"", input.escape_ascii()),
        Err(TestError::Abort(why)) => panic!("{name}: {why}"),
    }
}
