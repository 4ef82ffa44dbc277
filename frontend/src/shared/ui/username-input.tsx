/**
 * Whose password it is, for the phone's password manager, on a form that does not ask for the number: without it
 * the new password would be kept under no name, or beside the old one.
 */
export function UsernameInput({ telp }: { telp: string }) {
  return <input type="text" name="username" autoComplete="username" value={telp} readOnly hidden />
}
