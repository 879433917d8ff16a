import type { FastifyRequest } from 'fastify';
import type { Id } from '../kernel/ids.ts';

/** Fastify types request ids as strings. Ours come from `genReqId` (app.ts) or from the id generator (serve.ts). */
export function requestIdOf({ id }: Pick<FastifyRequest, 'id'>): Id<'request'> {
  return id as Id<'request'>;
}
