/** A new id of 128 random bits. `crypto.randomUUID` exists only on secure pages, not over plain http from another machine. */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
