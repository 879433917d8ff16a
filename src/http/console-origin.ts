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

/**
 * Compares scheme, host and port. The origin must be that of the public URL, which is how the console is reached through a proxy
 * that ends TLS, or, for a request to any other host, that host over plain HTTP, which is what this server speaks.
 */
function isOwn(origin: string, host: string | undefined, publicUrl: string): boolean {
  const given = originOf(origin);
  if (given === undefined) return false;
  const known = originOf(publicUrl);
  if (given === known) return true;
  if (host === undefined || !/^[^\s/@?#\\]+$/.test(host)) return false;
  const isPublicHost = known !== undefined && originOf(`${new URL(known).protocol}//${host}`) === known;
  return !isPublicHost && given === originOf(`http://${host}`);
}

function originOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { origin } = new URL(url);
  return origin === 'null' ? undefined : origin;
}
