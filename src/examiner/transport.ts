/** One request to the receiver. Whoever examines says how it gets there: see `local.ts`, and the server's own worker. */
export interface ExaminationRequest {
  readonly method: 'POST' | 'GET';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body goes out in pieces, with pauses between them. */
  readonly dribble?: Dribble;
  readonly timeoutMs: number;
  /** Cuts it short. */
  readonly signal?: AbortSignal;
}

export interface Dribble {
  /** Where the bytes of the body are cut. */
  readonly cuts: readonly number[];
  readonly pauseMs: number;
}

export interface Answered {
  readonly status: number;
  readonly durationMs: number;
  /** What the body begins with. */
  readonly body?: string;
}

/** No status came: why, in a sentence. */
export interface Unanswered {
  readonly error: string;
  readonly durationMs?: number;
}

export type ExaminationAnswer = Answered | Unanswered;

/** Never rejects, follows no redirect, and uses a connection for one request only. */
export type Send = (request: ExaminationRequest) => Promise<ExaminationAnswer>;

/** The pieces of a body that dribbles. */
export async function* dribbled(body: string, { cuts, pauseMs }: Dribble): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(body);
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    if (from > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    yield bytes.subarray(from, cut);
    from = cut;
  }
}
