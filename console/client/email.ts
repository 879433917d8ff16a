/** Why a text is not an email address, or undefined if it is one. The server checks the same pattern. */
export function emailProblem(text: string): string | undefined {
  const address = text.trim();
  if (address === '') return 'Enter an email address.';
  return /^[^@\s]+@[^@\s]+$/.test(address) ? undefined : 'This is not a valid email address.';
}
