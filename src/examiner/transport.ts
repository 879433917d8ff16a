/** One request to the receiver. `local.ts` and the server's examination run each provide a transport. */
export interface ExaminationRequest {
  readonly method: 'POST' | 'GET';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Send the body in pieces, with pauses between them. */
  readonly dribble?: Dribble;
  readonly timeoutMs: number;
  /** Aborts the request. */
  readonly signal?: AbortSignal;
}

export interface Dribble {
  /** Byte offsets at which the body is split. */
  readonly cuts: readonly number[];
  readonly pauseMs: number;
}

interface Answered {
  readonly status: number;
  readonly durationMs: number;
  /** The beginning of the body. */
  readonly body?: string;
}

/** No response; `error` says why, in one sentence. */
interface Unanswered {
  readonly error: string;
  readonly durationMs?: number;
}

export type ExaminationAnswer = Answered | Unanswered;

/** Never rejects, does not follow redirects, and uses a new connection for each request. */
export type Send = (request: ExaminationRequest) => Promise<ExaminationAnswer>;

/** The pieces of the body, with a pause before each but the first. */
export async function* dribbled(body: string, { cuts, pauseMs }: Dribble): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(body);
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    if (from > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    yield bytes.subarray(from, cut);
    from = cut;
  }
}
