import { hash } from 'node:crypto';

/** Digits that follow from a text and show nothing of it: a provider numbers its transactions in its own way. */
export function digitsOf(text: string, length: number): string {
  const number = hash('sha256', text, 'buffer').readBigUInt64BE();
  return number.toString().padStart(20, '0').slice(-length);
}
