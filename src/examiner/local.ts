import { randomBytes } from 'node:crypto';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { uuidv7obj } from 'uuidv7';
import { encodeSuffix } from '../kernel/ids.ts';
import { limits } from '../kernel/limits.ts';
import { type Bounds, examine } from './examination.ts';
import { exampleEvent } from './example.ts';
import type { CaseName, ExaminationReport } from './schema.ts';
import { dribbled, type ExaminationAnswer, type ExaminationRequest, type Send } from './transport.ts';

export interface LocalExamination {
  readonly url: string;
  /** Of the endpoint; several while they overlap, the newest first. */
  readonly secret: string | readonly string[];
  readonly cases?: readonly CaseName[] | undefined;
  /** With `data` of its kind: a server lists examples of all types as its capabilities. A payment that was created unless told. */
  readonly eventType?: string | undefined;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  readonly signal?: AbortSignal;
  readonly bounds?: Partial<Bounds>;
}

/** Examines a receiver from this very process: for a URL that only the developer's own machine reaches. */
export function examineUrl(local: LocalExamination): Promise<ExaminationReport> {
  const { url, secret, cases, eventType = exampleEvent.type, data = exampleEvent.data } = local;
  const { signal, bounds } = local;
  return examine({
    ...{
      url,
      cases,
      event: { type: eventType, data },
      send: sendTo(url),
      wallClock: Date.now,
      realTime: Date.now,
    },
    ...(signal && { signal }),
    ...(bounds && { bounds }),
    secrets: [secret].flat(),
    newSuffix: () => encodeSuffix(uuidv7obj().bytes),
    strangeSecret: `whsec_${randomBytes(32).toString('base64')}`,
  });
}

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Connection refused: nothing listens there.',
  ENOTFOUND: 'DNS: the name is not known.',
  EAI_AGAIN: 'DNS: the name could not be looked up just now.',
  ECONNRESET: 'Connection closed: it ended before an answer came.',
  EPIPE: 'Connection closed: it ended before an answer came.',
  EHOSTUNREACH: 'Network: there is no way to this host.',
  ENETUNREACH: 'Network: there is no way to this host.',
};

/** Every request has a connection of its own, and no redirect is followed. */
export function sendTo(url: string): Send {
  return (asked) =>
    new Promise((resolve) => {
      const startedAt = performance.now();
      const took = () => Math.round(performance.now() - startedAt);
      const fail = (error: string) => resolve({ error, durationMs: took() });
      try {
        exchange(
          url,
          asked,
          took,
          resolve,
          (error) => fail(words[error.code ?? ''] ?? `Connection failed: ${error.message}.`),
          () => fail(`Timeout: no answer within ${asked.timeoutMs / 1_000} seconds.`),
        );
      } catch (error) {
        // A URL that cannot be read, or of another scheme.
        fail(error instanceof Error ? `${error.message}.` : 'The URL cannot be read.');
      }
    });
}

function exchange(
  url: string,
  { method, headers, body, dribble, timeoutMs, signal }: ExaminationRequest,
  took: () => number,
  resolve: (answer: ExaminationAnswer) => void,
  onError: (error: NodeJS.ErrnoException) => void,
  onLate: () => void,
): void {
  const target = new URL(url);
  const request = (target.protocol === 'https:' ? requestHttps : requestHttp)(target, {
    method,
    agent: false,
    headers: {
      ...headers,
      ...(method === 'POST' && { 'content-length': String(Buffer.byteLength(body)) }),
    },
    ...(signal && { signal }),
  });
  const timer = setTimeout(() => {
    onLate();
    request.destroy();
  }, timeoutMs);
  request.on('close', () => clearTimeout(timer));
  request.on('error', onError);
  request.on('response', (response) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = () => {
      const text = Buffer.concat(chunks).subarray(0, limits.webhookResponseBytesMax).toString('utf8');
      resolve({ status: response.statusCode ?? 0, durationMs: took(), body: text });
      request.destroy();
    };
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= limits.webhookResponseBytesMax) finish();
    });
    // The status has come, and that is what counts, whether the rest of the body does or not.
    response.on('end', finish).on('error', finish);
  });
  if (dribble) void pour(dribbled(body, dribble), request);
  else request.end(method === 'POST' ? body : undefined);
}

async function pour(
  pieces: AsyncIterable<Uint8Array>,
  request: ReturnType<typeof requestHttp>,
): Promise<void> {
  for await (const piece of pieces) {
    if (request.destroyed) return;
    request.write(piece);
  }
  request.end();
}
