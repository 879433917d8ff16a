import type { IncomingHttpHeaders } from 'node:http';
import { type Refusal, refuse } from '../kernel/errors.ts';

/**
 * A browser sends cookies along whoever made it ask, so the console looks at who did. Browsers say it themselves in
 * Sec-Fetch-Site; older ones say the origin with everything but plain reads. A write that says neither comes from no
 * browser, and the console has no other callers.
 */
export function refuseOrigin(
  method: string,
  headers: IncomingHttpHeaders,
  publicUrl: string,
): Refusal | undefined {
  const site = headers['sec-fetch-site'];
  const { origin } = headers;
  const isRead = method === 'GET' || method === 'HEAD';
  if (site !== undefined && site !== 'same-origin' && !(isRead && site === 'none'))
    return refuse('origin_not_allowed');
  if (origin !== undefined)
    return isOwn(origin, headers.host, publicUrl) ? undefined : refuse('origin_not_allowed');
  return isRead || site === 'same-origin' ? undefined : refuse('origin_not_allowed');
}

/** The address that the request itself was sent to, or the one that people know the server by. */
function isOwn(origin: string, host: string | undefined, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false;
  const given = new URL(origin);
  if (URL.canParse(publicUrl) && given.origin === new URL(publicUrl).origin) return true;
  return host !== undefined && given.host === host.toLowerCase();
}
