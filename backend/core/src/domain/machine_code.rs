//! The code printed under a machine's QR: Crockford base32, seven random characters and a check character (docs/contract.md §4).

use rand::Rng;

use super::code;

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const DATA_CHARS: usize = 7;

/// A code with a right check character, in its printed form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineCode(String);

impl MachineCode {
    pub fn random(rng: &mut impl Rng) -> Self {
        let values: Vec<u8> = (0..DATA_CHARS).map(|_| rng.random_range(0..32)).collect();
        let text = values.iter().chain([&check(&values)]).map(|v| char::from(ALPHABET[usize::from(*v)])).collect();
        Self(text)
    }

    /// Reads what a person typed: any case, `O` for zero, `I` and `L` for one, what [`code::characters`] skips anywhere. `None` when
    /// the length, a character or the check character is wrong.
    pub fn parse(text: &str) -> Option<Self> {
        let values = code::characters(text)
            .take(DATA_CHARS + 2)
            .map(|c| match c.to_ascii_uppercase() {
                'O' => Some(0),
                'I' | 'L' => Some(1),
                c => ALPHABET.iter().position(|a| char::from(*a) == c).and_then(|p| u8::try_from(p).ok()),
            })
            .collect::<Option<Vec<u8>>>()?;
        let (last, data) = values.split_last()?;
        (data.len() == DATA_CHARS && check(data) == *last)
            .then(|| Self(values.iter().map(|v| char::from(ALPHABET[usize::from(*v)])).collect()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The Luhn mod N algorithm with N = 32: finds every single wrong character and nearly every swap of neighbours.
fn check(data: &[u8]) -> u8 {
    let sum: u32 = data
        .iter()
        .rev()
        .enumerate()
        .map(|(i, v)| {
            let weighted = u32::from(*v) * if i % 2 == 0 { 2 } else { 1 };
            weighted / 32 + weighted % 32
        })
        .sum();
    u8::try_from((32 - sum % 32) % 32).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::MachineCode;

    #[test]
    fn a_printed_code_reads_back_however_it_is_typed() {
        for _ in 0..200 {
            let kode = MachineCode::random(&mut rand::rng());
            let typed =
                format!(" {}-{} ", &kode.as_str()[..4].to_lowercase(), &kode.as_str()[4..]).replace('0', "o").replace('1', "l");
            assert_eq!(MachineCode::parse(&typed), Some(kode));
        }
    }

    #[test]
    fn one_wrong_character_is_always_found() {
        let kode = MachineCode::random(&mut rand::rng());
        for i in 0..8 {
            for c in "0123456789ABCDEFGHJKMNPQRSTVWXYZ".chars() {
                let mut wrong: Vec<char> = kode.as_str().chars().collect();
                if wrong[i] != c {
                    wrong[i] = c;
                    assert_eq!(MachineCode::parse(&wrong.iter().collect::<String>()), None);
                }
            }
        }
        assert_eq!(MachineCode::parse("U234567"), None);
    }
}
