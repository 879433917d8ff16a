import { hash } from 'node:crypto';

/** Digits derived from a text by hashing: a provider's transaction numbers must not reveal our ids. */
export function digitsOf(text: string, length: number): string {
  const number = hash('sha256', text, 'buffer').readBigUInt64BE();
  return number.toString().padStart(20, '0').slice(-length);
}
