import { errorCatalogue, type Refusal } from './errors.ts';

/**
 * Every body carries `object`, `sandbox`, `requestId` and `status`. Bodies are made as text in one place, because a
 * stored answer is replayed byte for byte and an event carries the same resource that the answer did.
 */
export interface Presented {
  readonly object: string;
  readonly sandbox: true;
  readonly status: string;
  readonly [field: string]: unknown;
}

/**
 * For rows that are read again and again: a row never changes, so it is shown once. The text that a resource becomes hangs
 * on it in the same way; both go when the row goes.
 */
export function shownOnce<Row extends object>(present: (row: Row) => Presented): (row: Row) => Presented {
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

/** How a successful answer is told on the wire; the failures are in the catalogue. */
export const successStatus = { created: 201, ok: 200 } as const;
export type Success = keyof typeof successStatus;

const marker = '"sandbox":true';

/** A resource as JSON text, cut where the request id belongs: behind the sandbox marker. */
interface CutText {
  readonly head: string;
  readonly tail: string;
}

function cut(resourceJson: string): CutText {
  const at = resourceJson.indexOf(marker) + marker.length;
  return { head: `${resourceJson.slice(0, at)},"requestId":"`, tail: `"${resourceJson.slice(at)}` };
}

/**
 * Puts the request id into a resource that is already JSON text. A resource is written once and used twice, in the
 * answer and in the event.
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
  const entry = errorCatalogue[refusal.code];
  return JSON.stringify({
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
  });
}

/** The JSON of an object, with fields behind its own. */
export function withFields(json: string, fields: Readonly<Record<string, unknown>>): string {
  return `${json.slice(0, -1)},${JSON.stringify(fields).slice(1)}`;
}

/** API versions are dates. A request may name one in the `Api-Version` header; the newest is the default. */
export const apiVersion = '2026-11-15';
export const apiVersions: readonly string[] = [apiVersion];
