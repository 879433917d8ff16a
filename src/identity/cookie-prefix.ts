import { createHash, hkdfSync } from 'node:crypto';

/** Signs sessions; derived from the server's secret. */
export function sessionKey(secret: string): string {
  return Buffer.from(hkdfSync('sha256', secret, 'sandbank', 'console sessions v1', 32)).toString('hex');
}

/** Browsers share cookies between the ports of a host: two servers on one laptop must not sign each other's users out. */
export function cookiePrefixOf(secret: string, isTls: boolean): string {
  const mark = createHash('sha256').update(sessionKey(secret)).digest('hex').slice(0, 8);
  return `${isTls ? '__Host-' : ''}sandbank-${mark}`;
}
