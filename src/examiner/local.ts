import { randomBytes } from 'node:crypto';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { uuidv7obj } from 'uuidv7';
import { attemptError } from '../kernel/attempt-errors.ts';
import { encodeSuffix } from '../kernel/ids.ts';
import { limits } from '../kernel/limits.ts';
import { type Bounds, examine } from './examination.ts';
import { exampleEvent } from './example.ts';
import type { CaseName, ExaminationReport } from './schema.ts';
import { dribbled, type ExaminationAnswer, type ExaminationRequest, type Send } from './transport.ts';

export interface LocalExaminationOptions {
  readonly url: string;
  /** The endpoint's secret; during a rotation both, the newest first. */
  readonly secret: string | readonly string[];
  readonly cases?: readonly CaseName[] | undefined;
  /** Needs matching `data`; a server's capabilities have an example of each type. Default: `payment.created`. */
  readonly eventType?: string | undefined;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  readonly signal?: AbortSignal;
  readonly bounds?: Partial<Bounds>;
}

/** Examines a receiver from this process, for URLs that only the developer's machine can reach. */
export function examineUrl(local: LocalExaminationOptions): Promise<ExaminationReport> {
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
    unknownSecret: `whsec_${randomBytes(32).toString('base64')}`,
  });
}

const errorMessages: Readonly<Record<string, string>> = {
  ECONNREFUSED: attemptError('connectionRefused', 'nothing listens there.'),
  ENOTFOUND: attemptError('dns', 'the host name was not found.'),
  EAI_AGAIN: attemptError('dns', 'the host name could not be resolved just now.'),
  ECONNRESET: attemptError('connectionClosed', 'the receiver sent no response.'),
  EPIPE: attemptError('connectionClosed', 'the receiver sent no response.'),
  EHOSTUNREACH: attemptError('network', 'no route to this host.'),
  ENETUNREACH: attemptError('network', 'no route to this host.'),
};

/** Uses a new connection for each request and does not follow redirects. */
function sendTo(url: string): Send {
  return (request) =>
    new Promise((resolve) => {
      const startedAt = performance.now();
      const took = () => Math.round(performance.now() - startedAt);
      const fail = (error: string) => resolve({ error, durationMs: took() });
      try {
        exchange(
          url,
          request,
          took,
          resolve,
          (error) =>
            fail(errorMessages[error.code ?? ''] ?? attemptError('connectionFailed', `${error.message}.`)),
          () => fail(attemptError('timeout', `no response within ${request.timeoutMs / 1_000} seconds.`)),
        );
      } catch (error) {
        // An invalid URL, or an unsupported scheme.
        fail(error instanceof Error ? `${error.message}.` : 'The URL is not valid.');
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
    // The status decides, so an incomplete body is not an error.
    response.on('end', finish).on('error', finish);
  });
  if (dribble) void writePieces(dribbled(body, dribble), request);
  else request.end(method === 'POST' ? body : undefined);
}

async function writePieces(
  pieces: AsyncIterable<Uint8Array>,
  request: ReturnType<typeof requestHttp>,
): Promise<void> {
  for await (const piece of pieces) {
    if (request.destroyed) return;
    request.write(piece);
  }
  request.end();
}
