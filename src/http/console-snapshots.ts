import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Answer } from '../engine/submission.ts';
import type { Refusal } from '../kernel/errors.ts';
import type { Principal } from '../kernel/route.ts';
import { type AdmissionSettings, admit, consolePrefix } from './console-routes.ts';
import { Refused } from './refused.ts';
import { sendAnswer, sendSnapshot } from './send.ts';

/** Gives a copy of the organization of whoever asks, without secrets, and notes it in the audit trail. */
export type TakeSnapshot = (
  request: Pick<FastifyRequest, 'id' | 'ip'>,
  principal: Principal,
) => Promise<Readable | Answer | Refusal>;

/** A file to download. It is no route of the table, because those answer with JSON that is held in memory. */
export function addConsoleSnapshots(
  app: FastifyInstance,
  settings: AdmissionSettings,
  take: TakeSnapshot,
): void {
  app.get(`${consolePrefix}:orgId/snapshot`, async (request, reply) => {
    const refusal = await admit(settings, request, reply, { role: 'admin', isOfArchived: true });
    if (refusal) throw new Refused(refusal);
    if (!request.principal) throw new Error('a snapshot was asked for by nobody');
    const answer = await take(request, request.principal);
    if ('ok' in answer) throw new Refused(answer);
    return 'body' in answer ? sendAnswer(reply, answer) : sendSnapshot(reply, answer);
  });
}
