import { createHash } from 'node:crypto';

/** Digits that follow from a text and show nothing of it: a provider numbers its transactions in its own way. */
export function digitsOf(text: string, length: number): string {
  const number = createHash('sha256').update(text).digest().readBigUInt64BE();
  return number.toString().padStart(20, '0').slice(-length);
}
