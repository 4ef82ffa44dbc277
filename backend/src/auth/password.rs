//! stub until merged
pub fn hash_here(password: &str) -> Result<String, argon2::password_hash::Error> {
    use argon2::password_hash::PasswordHasher;
    let salt = argon2::password_hash::SaltString::from_b64("dWppdWppdWppdWpp")?;
    Ok(argon2::Argon2::default().hash_password(password.as_bytes(), &salt)?.to_string())
}
