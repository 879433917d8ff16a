import type { OutgoingHttpHeader } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Answer } from '../kernel/command.ts';
import { apiVersion, errorBody } from '../kernel/envelope.ts';
import { type ErrorCode, type Refusal, statusOf } from '../kernel/errors.ts';
import type { TextAnswer } from '../kernel/route.ts';
import { snapshotType } from '../snapshots/format.ts';
import { cutConnection } from './connection.ts';

export const jsonType = 'application/json; charset=utf-8';

/**
 * Sends every JSON, text and error response, so that all have the same headers. It writes to Node's response directly: there is no
 * hook that Fastify would have to call in between.
 */
function send(
  reply: FastifyReply,
  status: number,
  type: string,
  body: string,
  errorCode: ErrorCode | null = null,
  isReplay = false,
): FastifyReply {
  const { request } = reply;
  // The command is committed, but the client gets no response.
  if (request.faultPlan?.fault.type === 'lose_answer') return cutConnection(reply, 'close');
  request.answered = { text: body, errorCode, isReplay };
  const headers: OutgoingHttpHeader[] = ['content-type', type, 'request-id', request.id];
  headers.push('api-version', apiVersion, 'cache-control', 'no-store', 'x-content-type-options', 'nosniff');
  headers.push('content-length', Buffer.byteLength(body));
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) headers.push(name, value);
  reply.hijack();
  reply.raw.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : body);
  return reply;
}

export function sendJson(reply: FastifyReply, status: number, body: string): FastifyReply {
  return send(reply, status, jsonType, body);
}

/** Sends a file. It has no envelope; only the header has the request id. */
export function sendText(reply: FastifyReply, { contentType, text, headers }: TextAnswer): FastifyReply {
  return send(reply.headers(headers), 200, `${contentType}; charset=utf-8`, text);
}

/** Answers HEAD of a stream with the headers only. */
export function sendHead(reply: FastifyReply, contentType: string): FastifyReply {
  return send(reply, 200, `${contentType}; charset=utf-8`, '');
}

/** Streams a file that is too large for memory. */
export function sendSnapshot(reply: FastifyReply, lines: Readable): FastifyReply {
  return reply
    .code(200)
    .headers({
      'Content-Type': snapshotType,
      'Content-Disposition': 'attachment; filename="snapshot.jsonl"',
      'Request-Id': reply.request.id,
      'Api-Version': apiVersion,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    })
    .send(lines);
}

export function sendAnswer(reply: FastifyReply, answer: Answer): FastifyReply {
  if (answer.isReplay) reply.header('Idempotent-Replayed', 'true');
  if (answer.retryAfterSeconds !== undefined) reply.header('Retry-After', answer.retryAfterSeconds);
  challenge(reply, answer.status);
  return send(reply, answer.status, jsonType, answer.body, answer.code, answer.isReplay);
}

export function sendRefusal(reply: FastifyReply, refusal: Refusal, docsUrl: string): FastifyReply {
  const status = statusOf(refusal.code);
  if (refusal.retryAfterSeconds !== undefined) reply.header('Retry-After', refusal.retryAfterSeconds);
  challenge(reply, status);
  return send(reply, status, jsonType, errorBody(refusal, reply.request.id, docsUrl), refusal.code);
}

function challenge(reply: FastifyReply, status: number): void {
  if (status === 401) reply.header('WWW-Authenticate', 'Bearer');
}
