import { apiVersions } from '../kernel/envelope.ts';
import { idPattern } from '../kernel/ids.ts';
import { isStream, type Route } from '../kernel/route.ts';

type Json = Record<string, unknown>;

interface Header {
  readonly name: string;
  /** Whether every answer to which it belongs has it; the others have it when its description says so. */
  readonly isAlways: boolean;
  readonly description: string;
  readonly schema: Json;
  readonly isOf: (status: number) => boolean;
}

/** What answers carry besides their body: one list for the document's headers and for who has which. */
const headers: Readonly<Record<string, Header>> = {
  RequestId: {
    name: 'Request-Id',
    isAlways: true,
    description:
      'Names the request, for tracing. A replayed answer has a new one here, and the first in its body.',
    schema: { type: 'string', pattern: idPattern('request') },
    isOf: () => true,
  },
  ApiVersion: {
    name: 'Api-Version',
    isAlways: true,
    description: 'The version that answered.',
    schema: { type: 'string', enum: apiVersions },
    isOf: () => true,
  },
  RateLimitPolicy: {
    name: 'RateLimit-Policy',
    isAlways: false,
    description: 'When requests are limited: how many (`q`) in how many seconds (`w`).',
    schema: { type: 'string', pattern: '^"(default|application)";q=\\d+;w=\\d+$' },
    isOf: (status) => status !== 401,
  },
  RateLimit: {
    name: 'RateLimit',
    isAlways: false,
    description:
      'When requests are limited: how many are left (`r`), and in how many seconds all are there again (`t`).',
    schema: { type: 'string', pattern: '^"(default|application)";r=\\d+;t=\\d+$' },
    isOf: (status) => status !== 401,
  },
  Fault: {
    name: 'Sandbank-Fault',
    isAlways: false,
    description: 'The fault plan that hit the request, if one did.',
    schema: { type: 'string', pattern: idPattern('fault_plan') },
    // A plan hits requests whose key is good.
    isOf: (status) => status !== 401,
  },
  WwwAuthenticate: {
    name: 'WWW-Authenticate',
    isAlways: true,
    description: 'How to say who asks.',
    schema: { type: 'string', const: 'Bearer' },
    isOf: (status) => status === 401,
  },
  RetryAfter: {
    name: 'Retry-After',
    isAlways: true,
    description: 'After how many seconds to send the same request again.',
    schema: { type: 'integer', minimum: 0 },
    isOf: (status) => status === 429 || status === 503,
  },
  RetryInProgress: {
    name: 'Retry-After',
    isAlways: false,
    description: 'With `idempotency_in_progress`: after how many seconds to send the same request again.',
    schema: { type: 'integer', minimum: 0 },
    isOf: (status) => status === 409,
  },
  RetryInjected: {
    name: 'Retry-After',
    isAlways: false,
    description: 'When a fault plan says so: after how many seconds to send the same request again.',
    schema: { type: 'integer', minimum: 0 },
    isOf: (status) => status === 500,
  },
  IdempotentReplayed: {
    name: 'Idempotent-Replayed',
    isAlways: false,
    description: 'There, and `true`, when this is the kept answer to an earlier request with the same key.',
    schema: { type: 'string', const: 'true' },
    // Answers that are kept: what was done, and what was decided against.
    isOf: (status) => status === 409 || status === 422,
  },
};

/** Of files: they have no envelope to say such things in. */
const fileHeaders: Readonly<Record<string, Omit<Header, 'isOf'>>> = {
  ContentDisposition: {
    name: 'Content-Disposition',
    isAlways: false,
    description: 'With a file: the name to save it under.',
    schema: { type: 'string' },
  },
  NextCursor: {
    name: 'Next-Cursor',
    isAlways: false,
    description: 'With a file that does not hold everything: the `cursor` to go on with.',
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
  const own = Object.entries(headers).filter(([, { isOf }]) => isOf(status));
  return Object.fromEntries(own.map(([key, { name }]) => [name, ref(key)]));
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
