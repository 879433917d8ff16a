import type { FastifyRequest } from 'fastify';
import type { Engine } from '../engine/engine.ts';
import { newSuffix } from '../engine/ids.ts';
import type { People, Person } from '../identity/people.ts';
import { defaultApplicationSettings } from '../kernel/application-settings.ts';
import type { Actor, Submission } from '../kernel/command.ts';
import type { Id } from '../kernel/ids.ts';
import type { Instant, Reader } from '../kernel/table.ts';
import { type AccountAction, accountCommands } from '../resources/organizations/member-machine.ts';
import { findMemberships } from '../resources/organizations/member-store.ts';
import { visitorOf } from './console-routes.ts';
import { requestIdOf } from './request-id.ts';

export interface AccountTrailSettings {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly wallClock: () => Instant;
  readonly people: Pick<People, 'history'>;
}

export type AccountTrail = (
  request: FastifyRequest,
  person: Pick<Person, 'id'>,
  action: AccountAction,
) => Promise<void>;

/**
 * Records an account change in the person's own security history, and in the audit trails of their organizations.
 *
 * An account does not belong to one organization, so an account change writes a row to the audit trail of each of the
 * person's organizations. The identity library commits the change in its own transaction before these rows. If writing
 * them fails, the failure is logged and the change stays.
 */
export function accountTrail({ engine, reader, wallClock, people }: AccountTrailSettings): AccountTrail {
  return async (request, { id }, action) => {
    await recordEvent(people, request, { id }, action);
    try {
      const memberships = await findMemberships(reader, id);
      const submissions = memberships.map(({ orgId }) =>
        engine.submit({
          kind: accountCommands[action],
          input: { personId: id },
          ...personSubmission(request, {
            orgId,
            personId: id,
            suffix: newSuffix(),
            wallNow: wallClock(),
          }),
        }),
      );
      await Promise.all(submissions);
    } catch (error) {
      request.log.error({ err: error, requestId: request.id, action }, 'account change not audited');
    }
  };
}

/** Records an event in the person's own security history. A failure is logged: the event itself has happened. */
export async function recordEvent(
  { history }: Pick<People, 'history'>,
  request: FastifyRequest,
  { id }: Pick<Person, 'id'>,
  action: AccountAction | 'sign_up',
): Promise<void> {
  try {
    await history.record({ id }, action, visitorOf(request));
  } catch (error) {
    request.log.error({ err: error, requestId: request.id, action }, 'account event not recorded');
  }
}

/** The submission of a person's command in one organization, without an application. The caller adds the command and its input. */
export function personSubmission(
  request: Pick<FastifyRequest, 'id' | 'ip'>,
  person: {
    readonly orgId: Id<'organization'>;
    readonly personId: Id<'person'>;
    readonly suffix: string;
    readonly wallNow: Instant;
  },
): Omit<Submission, 'kind' | 'input'> {
  const { orgId, personId, suffix, wallNow } = person;
  const actor: Actor = { kind: 'person', id: personId };
  return {
    idempotency: null,
    wallNow,
    context: {
      ...{ orgId, appId: null, settings: defaultApplicationSettings, actor, suffix },
      requestId: requestIdOf(request),
      ip: request.ip,
    },
  };
}
