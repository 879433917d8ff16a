import type { IncomingHttpHeaders } from 'node:http';
import { type Refusal, refuse } from '../kernel/errors.ts';

/**
 * CSRF protection: a browser sends cookies with requests from any site, so the console checks which site sent the request.
 * Browsers state it in Sec-Fetch-Site; older ones send Origin with everything except plain reads. A write with neither header
 * does not come from a browser, and the console has no other clients.
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
 * Compares scheme, host and port. The origin must be that of the public URL, which browsers use behind a proxy that
 * terminates TLS. For a request to any other host, it must be that host over plain HTTP, the only protocol of this server.
 */
function isOwn(origin: string, host: string | undefined, publicUrl: string): boolean {
  const requestOrigin = originOf(origin);
  if (requestOrigin === undefined) return false;
  const publicOrigin = originOf(publicUrl);
  if (requestOrigin === publicOrigin) return true;
  if (host === undefined || !/^[^\s/@?#\\]+$/.test(host)) return false;
  const isPublicHost =
    publicOrigin !== undefined && originOf(`${new URL(publicOrigin).protocol}//${host}`) === publicOrigin;
  return !isPublicHost && requestOrigin === originOf(`http://${host}`);
}

function originOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { origin } = new URL(url);
  return origin === 'null' ? undefined : origin;
}
