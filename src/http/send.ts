import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Answer } from '../kernel/command.ts';
import { apiVersion, errorBody } from '../kernel/envelope.ts';
import { type ErrorCode, type Refusal, statusOf } from '../kernel/errors.ts';
import type { TextAnswer } from '../kernel/route.ts';
import { snapshotType } from '../snapshots/format.ts';
import { cutConnection } from './connection.ts';

export const jsonType = 'application/json; charset=utf-8';

/** Sends every JSON, text and error response, so that all have the same headers. */
function send(
  reply: FastifyReply,
  status: number,
  type: string,
  body: string,
  errorCode: ErrorCode | null = null,
  isReplay = false,
): FastifyReply {
  // The command is committed, but the client gets no response.
  if (reply.request.faultPlan?.fault.type === 'lose_answer') return cutConnection(reply, 'close');
  reply.request.answered = { text: body, errorCode, isReplay };
  return reply
    .code(status)
    .headers({
      'Content-Type': type,
      'Request-Id': reply.request.id,
      'Api-Version': apiVersion,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    })
    .send(body);
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
