/**
 * Names the password's owner for the phone's password manager, on a form that does not ask for the number. Without it the manager would
 * store the new password without a name, or beside the old one.
 */
export function UsernameInput({ telp }: { telp: string }) {
  return <input type="text" name="username" autoComplete="username" value={telp} readOnly hidden />
}
