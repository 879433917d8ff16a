import type { LoggedRequest } from '../../generated/shapes.ts';

const apiPath = /^(?:\/_api|\/console\/api\/org_[0-9a-z]+\/app_[0-9a-z]+)\/(developer_api_.+)$/;
const consolePath = /^\/console\/api\/org_[0-9a-z]+\/(?:app_[0-9a-z]+\/)?(.+)$/;

/** The path as in the documentation, without its common prefix. */
export function shortPath(path: string): string {
  return apiPath.exec(path)?.[1] ?? consolePath.exec(path)?.[1] ?? path;
}

/** The request as a curl command for the public API; undefined for requests that only the console can send. */
export function curlOf(request: LoggedRequest, publicUrl: string): string | undefined {
  const operation = apiPath.exec(request.path)?.[1];
  if (operation === undefined) return undefined;
  const query = request.query ? `?${request.query.replace(/^\?/, '')}` : '';
  const lines = [
    `curl${request.method === 'POST' ? ' -X POST' : ''} ${quoted(`${publicUrl}/_api/${operation}${query}`)}`,
    '-H "Authorization: Bearer $SANDBANK_API_KEY"',
  ];
  if (request.method === 'POST') {
    // The original key would replay the stored response and change nothing.
    lines.push('-H "Idempotency-Key: $(date +%s)-$RANDOM"', "-H 'Content-Type: application/json'");
    lines.push(`-d ${quoted(request.requestBody || '{}')}`);
  }
  return lines.join(' \\\n  ');
}

/** Quotes for the shell: inside single quotes only the quote itself is special. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
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
