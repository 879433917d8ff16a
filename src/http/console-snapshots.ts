import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Answer } from '../kernel/command.ts';
import type { Refusal } from '../kernel/errors.ts';
import type { Id } from '../kernel/ids.ts';
import type { Principal } from '../kernel/route.ts';
import { consoleAnswers } from './console-answers.ts';
import { type AdmissionSettings, admit, consolePrefix } from './console-routes.ts';
import { Refused } from './refused.ts';
import { requestIdOf } from './request-id.ts';
import { sendAnswer, sendSnapshot } from './send.ts';

/** Exports the organization of the principal without secrets, and records that in the audit trail. */
export type TakeSnapshot = (
  request: { readonly id: Id<'request'>; readonly ip: string },
  principal: Principal,
) => Promise<Readable | Answer | Refusal>;

/** A file download. It is not in the route table, because those routes answer with JSON that is held in memory. */
export function addConsoleSnapshots(
  app: FastifyInstance,
  settings: AdmissionSettings,
  take: TakeSnapshot,
): void {
  const config = { answer: consoleAnswers.snapshot };
  app.get(`${consolePrefix}:orgId/snapshot`, { config }, async (request, reply) => {
    const refusal = await admit(settings, request, reply, { role: 'admin', allowsArchived: true });
    if (refusal) throw new Refused(refusal);
    if (!request.principal) throw new Error('snapshot request without a principal');
    const answer = await take({ id: requestIdOf(request), ip: request.ip }, request.principal);
    if ('ok' in answer) throw new Refused(answer);
    return 'body' in answer ? sendAnswer(reply, answer) : sendSnapshot(reply, answer);
  });
}
