import { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';

/**
 * Closes the connection of a request without sending a byte of the response, and logs the request. `reset` simulates a lost
 * network connection, `close` a server that crashes after its work. Requests that the client pipelined behind this one are
 * lost as well. Without a socket, as in tests that inject requests, only the response is destroyed, and the caller gets an
 * error.
 */
export function cutConnection(reply: FastifyReply, how: 'reset' | 'close'): FastifyReply {
  const { socket } = reply.request.raw;
  reply.hijack();
  reply.server.logRequest(reply.request, reply, noResponseStatus);
  if (!(socket instanceof Socket)) reply.raw.destroy();
  else if (how === 'reset') socket.resetAndDestroy();
  else socket.destroy();
  return reply;
}

/** The status in the request log when no response was sent. */
const noResponseStatus = 0;
