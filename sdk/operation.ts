import type { OptionNames } from './options.ts';

/** One row of the generated table: a client method and the request it sends. */
export interface Operation {
  /** The operationId of the OpenAPI document. */
  readonly id: string;
  /** Absent for methods of the client itself, such as `sandbank.status()`. */
  readonly namespace?: string;
  readonly method: string;
  readonly verb: 'GET' | 'POST';
  readonly path: string;
  /** The parameters of the path, which are the first arguments. */
  readonly names: readonly string[];
  /** The kind of the next argument. The last argument is always the options. */
  readonly takes?: 'query' | 'body';
  /** Options of a write that are sent in the query. */
  readonly optionsInQuery?: readonly string[];
  readonly gives: 'json' | 'page' | 'text' | 'stream';
  readonly accept: string;
}

/** The last argument of every call. */
export interface CallOptions {
  /** Aborts the call, also while it waits for a retry; the call then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** How long one attempt may take. */
  readonly timeoutMs?: number | undefined;
  /** How many attempts may follow the first one. */
  readonly retriesMax?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export const callOptionNames: OptionNames<CallOptions> = {
  signal: true,
  timeoutMs: true,
  retriesMax: true,
  headers: true,
};

export interface WriteOptions extends CallOptions {
  /** Generated for each call by default. Pass your own if another process may retry the write. */
  readonly idempotencyKey?: string | undefined;
}
