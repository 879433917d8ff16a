import { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';

/**
 * Ends the connection of a request without a byte of an answer, and leaves the request in the log. `reset` is what a
 * network does that loses a connection, `close` what a server does that dies after its work. Requests that were sent behind
 * this one on the same connection are lost with it. Without a connection, as in tests that inject their requests, the
 * response alone is destroyed, and the caller is told so.
 */
export function cutConnection(reply: FastifyReply, how: 'reset' | 'close'): FastifyReply {
  const { socket } = reply.request.raw;
  reply.hijack();
  reply.server.logRequest(reply.request, reply, noAnswer);
  if (!(socket instanceof Socket)) reply.raw.destroy();
  else if (how === 'reset') socket.resetAndDestroy();
  else socket.destroy();
  return reply;
}

/** What the log has for a status when no answer left. */
const noAnswer = 0;
