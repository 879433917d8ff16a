import { errorCatalogue, type Refusal } from './errors.ts';

/**
 * Every body has `object`, `sandbox`, `requestId` and `status`. Bodies are serialized in one place, because a stored response is
 * replayed byte for byte and an event contains the same resource as the response.
 */
export interface Presented {
  readonly object: string;
  readonly sandbox: true;
  readonly status: string;
  readonly [field: string]: unknown;
}

/**
 * Caches the presentation of frequently read rows: row objects are immutable. The JSON text of a resource is cached in the same
 * way. Both are garbage-collected with the row.
 */
export function presentOnce<Row extends object>(present: (row: Row) => Presented): (row: Row) => Presented {
  const shown = new WeakMap<Row, Presented>();
  return (row) => {
    let presented = shown.get(row);
    if (!presented) {
      presented = present(row);
      shown.set(row, presented);
    }
    return presented;
  };
}

/** The HTTP status of a successful response; the error catalogue has the others. */
export const successStatus = { created: 201, ok: 200 } as const;
export type Success = keyof typeof successStatus;

const marker = '"sandbox":true';

/** A resource as JSON text, split at the position of the request id: after the sandbox marker. */
interface CutText {
  readonly head: string;
  readonly tail: string;
}

function cut(resourceJson: string): CutText {
  const at = resourceJson.indexOf(marker) + marker.length;
  return { head: `${resourceJson.slice(0, at)},"requestId":"`, tail: `"${resourceJson.slice(at)}` };
}

/**
 * Inserts the request id into a resource that is already JSON text. A resource is serialized once and used twice, in the
 * response and in the event.
 */
export function withRequestId(resourceJson: string, requestId: string): string {
  const { head, tail } = cut(resourceJson);
  return head + requestId + tail;
}

const cutTexts = new WeakMap<Presented, CutText>();

export function resourceBody(resource: Presented, requestId: string): string {
  let text = cutTexts.get(resource);
  if (!text) {
    text = cut(JSON.stringify(resource));
    cutTexts.set(resource, text);
  }
  return text.head + requestId + text.tail;
}

export function errorBody(refusal: Refusal, requestId: string, docsUrl: string): string {
  return JSON.stringify(errorObject(refusal, requestId, docsUrl));
}

export function errorObject(refusal: Refusal, requestId: string, docsUrl: string) {
  const entry = errorCatalogue[refusal.code];
  return {
    object: 'error',
    sandbox: true,
    requestId,
    status: 'error',
    error: {
      code: refusal.code,
      message: refusal.message ?? `${entry.description} ${entry.resolution}`,
      param: refusal.param,
      details: refusal.details,
      allowedActions: refusal.allowedActions,
      retryable: entry.retryable,
      docUrl: `${docsUrl}/errors#${refusal.code}`,
    },
  };
}

/** Appends fields to the JSON of an object. */
export function withFields(json: string, fields: Readonly<Record<string, unknown>>): string {
  return `${json.slice(0, -1)},${JSON.stringify(fields).slice(1)}`;
}

/** API versions are dates. A request may name one in the `Api-Version` header; the newest is the default. */
export const apiVersion = '2026-11-15';
export const apiVersions: readonly string[] = [apiVersion];
