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

/** A resource that is already JSON text. */
export class RenderedResource {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }

  /** For a response that contains it and is serialized as a whole. */
  toJSON(): unknown {
    return JSON.parse(this.json);
  }
}

/**
 * Renders a row once: row objects are immutable, and the reader returns the same object as long as the record does not change. The
 * text is garbage-collected with the row.
 */
export function renderOnce<Row extends object>(
  present: (row: Row) => Presented,
): (row: Row) => RenderedResource {
  const rendered = new WeakMap<Row, RenderedResource>();
  return (row) => {
    let resource = rendered.get(row);
    if (!resource) {
      resource = new RenderedResource(JSON.stringify(present(row)));
      rendered.set(row, resource);
    }
    return resource;
  };
}

/** The HTTP status of a successful response; the error catalogue has the others. */
export const successStatus = { created: 201, ok: 200 } as const;
export type Success = keyof typeof successStatus;

const marker = '"sandbox":true';

/**
 * Inserts the request id into a resource that is already JSON text, after the sandbox marker. A resource is serialized once and used
 * twice, in the response and in the event.
 */
export function withRequestId(resourceJson: string, requestId: string): string {
  const at = resourceJson.indexOf(marker) + marker.length;
  return `${resourceJson.slice(0, at)},"requestId":"${requestId}"${resourceJson.slice(at)}`;
}

export function jsonOf(resource: Presented | RenderedResource): string {
  return resource instanceof RenderedResource ? resource.json : JSON.stringify(resource);
}

export function resourceBody(resource: Presented | RenderedResource, requestId: string): string {
  return withRequestId(jsonOf(resource), requestId);
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
