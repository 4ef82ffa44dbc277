//! A QR text as a PNG picture.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use png::{BitDepth, ColorType, Encoder};
use qrcode::types::QrError;
use qrcode::{Color, EcLevel, QrCode};

#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    #[error("the text fits no QR code: {0}")]
    Code(#[from] QrError),
    #[error("the picture cannot be written: {0}")]
    Png(#[from] png::EncodingError),
}

/// Pixels of one QR module: a byte of a 1-bit picture.
const MODULE_PX: usize = 8;
/// Light modules around the code, as ISO/IEC 18004 asks.
const QUIET_MODULES: usize = 4;

const LIGHT: u8 = 0xFF;
const DARK: u8 = 0x00;

/// A 1-bit greyscale PNG with error correction M (a scratched sticker or a cracked screen is still readable). It has one bit per pixel,
/// because a worker thread sends no ticks while it draws.
pub fn render(text: &str) -> Result<Vec<u8>, PictureError> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M)?;
    let modules = code.width();
    let side = modules + 2 * QUIET_MODULES;
    let mut picture = vec![LIGHT; side * QUIET_MODULES * MODULE_PX];
    for row in code.to_colors().chunks(modules) {
        let mut line = vec![LIGHT; side];
        for (byte, color) in line.iter_mut().skip(QUIET_MODULES).zip(row) {
            *byte = if *color == Color::Dark { DARK } else { LIGHT };
        }
        picture.extend(line.repeat(MODULE_PX));
    }
    picture.resize(side * side * MODULE_PX, LIGHT);
    Ok(encode(side * MODULE_PX, &picture)?)
}

/// [`render`] in base64, as answers have it.
pub fn base64(text: &str) -> Result<String, PictureError> {
    Ok(STANDARD.encode(render(text)?))
}

fn encode(side_px: usize, picture: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    let side = u32::try_from(side_px).unwrap_or(u32::MAX);
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, side, side);
    encoder.set_color(ColorType::Grayscale);
    encoder.set_depth(BitDepth::One);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(picture)?;
    writer.finish()?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::render;

    #[test]
    fn the_picture_is_square_with_a_quiet_border() {
        let bytes = render("NYM1.1.AAAAAAAAAAEAAAAB.0123456789012345678901").unwrap();
        let mut decoder = png::Decoder::new(std::io::Cursor::new(&bytes));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!(info.width, info.height);
        let side = usize::try_from(info.width).unwrap();
        assert!(pixels[..side * 32].iter().all(|p| *p == 255), "four light modules above");
        assert!(pixels[pixels.len() - side * 32..].iter().all(|p| *p == 255), "and below");
        assert_eq!(pixels[side * 32 + 32], 0, "the finder's corner is dark");
    }

    #[test]
    fn a_text_too_long_for_any_code_is_an_error() {
        assert!(render(&"x".repeat(5000)).is_err());
    }
}
