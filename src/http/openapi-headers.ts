import { apiVersions } from '../kernel/envelope.ts';
import { idPattern } from '../kernel/ids.ts';
import { isStream, type Route } from '../kernel/route.ts';

type Json = Record<string, unknown>;

interface Header {
  readonly name: string;
  /** Whether every response with a matching status has the header; otherwise its description states when. */
  readonly isAlways: boolean;
  readonly description: string;
  readonly schema: Json;
  readonly appliesTo: (status: number) => boolean;
}

/** The response headers, with the statuses that have them. */
const headers: Readonly<Record<string, Header>> = {
  RequestId: {
    name: 'Request-Id',
    isAlways: true,
    description:
      'The id of the request, for tracing. A replayed response has a new id here, and the original id in its body.',
    schema: { type: 'string', pattern: idPattern('request') },
    appliesTo: () => true,
  },
  ApiVersion: {
    name: 'Api-Version',
    isAlways: true,
    description: 'The API version of the response.',
    schema: { type: 'string', enum: apiVersions },
    appliesTo: () => true,
  },
  RateLimitPolicy: {
    name: 'RateLimit-Policy',
    isAlways: false,
    description: 'If a rate limit applies: the quota of requests (`q`) per window in seconds (`w`).',
    schema: { type: 'string', pattern: '^"(default|application)";q=\\d+;w=\\d+$' },
    appliesTo: (status) => status !== 401,
  },
  RateLimit: {
    name: 'RateLimit',
    isAlways: false,
    description:
      'If a rate limit applies: the remaining requests (`r`) and the seconds until the full quota is available again (`t`).',
    schema: { type: 'string', pattern: '^"(default|application)";r=\\d+;t=\\d+$' },
    appliesTo: (status) => status !== 401,
  },
  Fault: {
    name: 'Sandbank-Fault',
    isAlways: false,
    description: 'The fault plan that hit the request, if one did.',
    schema: { type: 'string', pattern: idPattern('fault_plan') },
    // A plan only hits requests with a valid key.
    appliesTo: (status) => status !== 401,
  },
  WwwAuthenticate: {
    name: 'WWW-Authenticate',
    isAlways: true,
    description: 'The authentication scheme to use.',
    schema: { type: 'string', const: 'Bearer' },
    appliesTo: (status) => status === 401,
  },
  RetryAfter: {
    name: 'Retry-After',
    isAlways: true,
    description: 'After how many seconds to send the same request again.',
    schema: { type: 'integer', minimum: 0 },
    appliesTo: (status) => status === 429 || status === 503,
  },
  RetryInProgress: {
    name: 'Retry-After',
    isAlways: false,
    description: 'With `idempotency_in_progress`: after how many seconds to send the same request again.',
    schema: { type: 'integer', minimum: 0 },
    appliesTo: (status) => status === 409,
  },
  RetryInjected: {
    name: 'Retry-After',
    isAlways: false,
    description: 'If the fault plan sets it: after how many seconds to send the same request again.',
    schema: { type: 'integer', minimum: 0 },
    appliesTo: (status) => status === 500,
  },
  IdempotentReplayed: {
    name: 'Idempotent-Replayed',
    isAlways: false,
    description:
      '`true` when this is the stored response to an earlier request with the same key; otherwise absent.',
    schema: { type: 'string', const: 'true' },
    // Stored responses: successful commands, and commands that the state or a rule rejected.
    appliesTo: (status) => status === 409 || status === 422,
  },
};

/** Headers of files, which have no envelope for these values. */
const fileHeaders: Readonly<Record<string, Omit<Header, 'appliesTo'>>> = {
  ContentDisposition: {
    name: 'Content-Disposition',
    isAlways: false,
    description: 'With a file: the name to save it under.',
    schema: { type: 'string' },
  },
  NextCursor: {
    name: 'Next-Cursor',
    isAlways: false,
    description: 'With a file that does not contain all rows: the `cursor` of the next page.',
    schema: { type: 'string' },
  },
};

/** For `components.headers`. */
export function headerComponents(): Json {
  return Object.fromEntries(
    Object.entries({ ...headers, ...fileHeaders }).map(([key, { isAlways, description, schema }]) => [
      key,
      { description, required: isAlways, schema },
    ]),
  );
}

const ref = (key: string): Json => ({ $ref: `#/components/headers/${key}` });

export function headersOfStatus(status: number): Json {
  const matching = Object.entries(headers).filter(([, { appliesTo }]) => appliesTo(status));
  return Object.fromEntries(matching.map(([key, { name }]) => [name, ref(key)]));
}

export function headersOfSuccess(route: Route, status: number): Json {
  const isFile = route.method === 'GET' && !isStream(route) && route.alternateContentType === 'text/csv';
  return {
    ...headersOfStatus(status),
    ...(route.method === 'POST' ? { 'Idempotent-Replayed': ref('IdempotentReplayed') } : {}),
    ...(isFile
      ? Object.fromEntries(Object.entries(fileHeaders).map(([key, { name }]) => [name, ref(key)]))
      : {}),
  };
}
