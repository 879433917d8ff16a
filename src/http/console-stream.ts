import type { FastifyInstance } from 'fastify';
import type { Committed } from '../engine/batch.ts';
import { memberIdOf } from '../resources/organizations/member-machine.ts';
import { findRoleOfSession } from '../resources/organizations/member-store.ts';
import { type AdmissionSettings, admit, consolePrefix } from './console-routes.ts';
import type { EventStreams } from './event-stream.ts';
import { Refused } from './refused.ts';
import { principalOf } from './serve.ts';
import { beginStream } from './stream-route.ts';

export interface StreamSettings extends AdmissionSettings {
  readonly streams: EventStreams;
  /** Calls back after every commit of this node. */
  readonly watch: (onCommit: (committed: Pick<Committed, 'changes'>) => void) => void;
}

// Streams end within a second of a sign-out, a removal or a change of role, also through another node.
const checkMs = 600;
const busyMessage =
  'Too many live streams are open for you, in this organization or on this server. Close some windows of the console.';

/** The live events of an organization, for the console. */
export function addConsoleStream(app: FastifyInstance, settings: StreamSettings): void {
  /** The checks of all open streams, by organization and member. */
  const checks = new Map<string, Set<() => void>>();
  settings.watch(({ changes }) => {
    if (checks.size === 0) return;
    for (const { resource, row } of changes)
      if (resource === 'member') for (const check of checks.get(`${row.orgId} ${row.id}`) ?? []) check();
  });

  app.get(`${consolePrefix}:orgId/:appId/event_stream`, async (request, reply) => {
    const refusal = await admit(settings, request, reply, { role: 'viewer', isOfArchived: true });
    if (refusal) throw new Refused(refusal);
    const { orgId, role, actor } = principalOf(request);
    const memberId = memberIdOf(actor.id);
    beginStream(reply, settings.streams, orgId, busyMessage, { holder: actor.id });
    const check = () => {
      findRoleOfSession(settings.reader, orgId, memberId, request.sessionId, Date.now()).then(
        // A browser reconnects by itself and is admitted with its new role, or not at all.
        (current) => current === role || reply.raw.end(),
        // While the database does not answer, no events are read either.
        () => undefined,
      );
    };
    const checking = setInterval(check, checkMs);
    const key = `${orgId} ${memberId}`;
    const ofMember = checks.get(key) ?? new Set();
    checks.set(key, ofMember.add(check));
    reply.raw.once('close', () => {
      clearInterval(checking);
      ofMember.delete(check);
      if (ofMember.size === 0 && checks.get(key) === ofMember) checks.delete(key);
    });
  });
}
