/** One row of the generated table: a method of the client, and what it asks of the server. */
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
  /** What the next argument is. The last one is always the options. */
  readonly takes?: 'query' | 'body';
  /** Options of a write that travel in the query. */
  readonly optionsInQuery?: readonly string[];
  readonly gives: 'json' | 'page' | 'text' | 'stream';
  readonly accept: string;
}

/** What every call takes as its last argument. */
export interface CallOptions {
  /** Ends the call, also while it waits for a retry; it then throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** How long one attempt may take. */
  readonly timeoutMs?: number | undefined;
  /** How many attempts may follow the first one. */
  readonly retriesMax?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface WriteOptions extends CallOptions {
  /** One is made for each call when this is absent. Give your own when a retry may come from another process. */
  readonly idempotencyKey?: string | undefined;
}
