import type { ApiRequest } from '../../client/request.ts';
import type { LoggedRequest } from '../../generated/shapes.ts';

const apiPath = /^(?:\/_api|\/console\/api\/org_[0-9a-z]+\/app_[0-9a-z]+)\/(developer_api_.+)$/;
const consolePath = /^\/console\/api\/org_[0-9a-z]+\/(?:app_[0-9a-z]+\/)?(.+)$/;

/** The path as in the documentation, without its common prefix. */
export function shortPath(path: string): string {
  return apiPath.exec(path)?.[1] ?? consolePath.exec(path)?.[1] ?? path;
}

/** The request as the public API has it; undefined for requests that only the console can send. */
export function apiRequestOf(request: LoggedRequest): ApiRequest | undefined {
  const path = apiPath.exec(request.path)?.[1];
  if (path === undefined) return undefined;
  const query = request.query ? { query: request.query.replace(/^\?/, '') } : {};
  return request.method === 'POST'
    ? { method: 'POST', path, ...query, body: request.requestBody || '{}' }
    : { method: 'GET', path, ...query };
}

const redacted = /\[redacted\]|%5Bredacted%5D|\*{8,}\d{4}/i;

/** Whether the log has the request as it was sent: nothing is redacted, cut or missing. Event streams do not end. */
export function canSendAgain(request: LoggedRequest): boolean {
  const { method, path, query, requestBody } = request;
  if (apiRequestOf(request) === undefined || path.endsWith('/stream')) return false;
  if (redacted.test(`${path} ${query ?? ''} ${requestBody ?? ''}`)) return false;
  return method !== 'POST' || isJson(requestBody ?? '');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const recordId = /\b(?:pay|cus|trf|rfd|dsp|whk|evt|dlv)_[0-7][0-9a-z]{25}\b/g;
const recordsMax = 20;

/** The ids in a request and its response, in order of appearance. */
export function recordIds(request: LoggedRequest): readonly string[] {
  const texts = [request.path, request.query, request.requestBody, request.responseBody];
  const found = texts.flatMap((text) => text?.match(recordId) ?? []);
  return [...new Set(found)].slice(0, recordsMax);
}

/** 0.42 -> '0.4 ms', 1234 -> '1,234 ms'. */
export function formatDuration(ms: number): string {
  return `${ms >= 10 ? Math.round(ms).toLocaleString('en') : ms.toFixed(1)} ms`;
}
