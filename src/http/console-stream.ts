import type { FastifyInstance } from 'fastify';
import type { Committed } from '../engine/batch-trail.ts';
import { assert } from '../kernel/assert.ts';
import { memberIdOf } from '../resources/organizations/member-machine.ts';
import { findRoleOfSession } from '../resources/organizations/member-store.ts';
import { consoleAnswers } from './console-answers.ts';
import { type AdmissionSettings, admit, consolePrefix } from './console-routes.ts';
import type { EventStreams } from './event-stream.ts';
import { Refused } from './refused.ts';
import { principalOf } from './serve.ts';
import { beginStream } from './stream-route.ts';

export interface StreamSettings extends AdmissionSettings {
  readonly streams: EventStreams;
  /** Registers a listener for the commits of this node. */
  readonly watch: (onCommit: (committed: Pick<Committed, 'changes'>) => void) => void;
}

// Streams end within a second of a sign-out, a removal or a change of role, also through another node.
const checkMs = 600;
const busyMessage =
  'Too many live streams are open for you, in this organization or on this server. Close some console windows.';

/** The live events of an organization, for the console. */
export function addConsoleStream(app: FastifyInstance, settings: StreamSettings): void {
  /** The role checks of all open streams, by organization and member. */
  const checks = new Map<string, Set<() => void>>();
  settings.watch(({ changes }) => {
    if (checks.size === 0) return;
    for (const { resource, row } of changes)
      if (resource === 'member') for (const check of checks.get(`${row.orgId} ${row.id}`) ?? []) check();
  });

  const config = { answer: consoleAnswers.eventStream };
  app.get(`${consolePrefix}:orgId/:appId/event_stream`, { config }, async (request, reply) => {
    const refusal = await admit(settings, request, reply, { role: 'viewer', allowsArchived: true });
    if (refusal) throw new Refused(refusal);
    const { orgId, role, actor } = principalOf(request);
    assert(actor.kind === 'person', 'the console admits only persons');
    const memberId = memberIdOf(actor.id);
    beginStream(reply, settings.streams, orgId, busyMessage, {
      holder: actor.id,
      followsActivity: true,
    });
    const check = () => {
      findRoleOfSession(settings.reader, orgId, memberId, request.sessionId, Date.now()).then(
        // A browser reconnects by itself and is admitted with its new role, or not at all.
        (current) => current === role || reply.raw.end(),
        // While the database does not answer, no events are read either.
        () => undefined,
      );
    };
    const checkTimer = setInterval(check, checkMs);
    const key = `${orgId} ${memberId}`;
    const memberChecks = checks.get(key) ?? new Set();
    checks.set(key, memberChecks.add(check));
    reply.raw.once('close', () => {
      clearInterval(checkTimer);
      memberChecks.delete(check);
      if (memberChecks.size === 0 && checks.get(key) === memberChecks) checks.delete(key);
    });
  });
}
