import type { FastifyRequest } from 'fastify';
import type { Engine } from '../engine/engine.ts';
import { newSuffix } from '../engine/ids.ts';
import type { Person } from '../identity/people.ts';
import { defaultApplicationSettings } from '../kernel/application-settings.ts';
import type { Reader } from '../kernel/route.ts';
import type { Instant } from '../kernel/table.ts';
import { type AccountAction, noteAccount } from '../resources/organizations/member-machine.ts';
import { findMemberships } from '../resources/organizations/member-store.ts';

export interface AccountTrailSettings {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly wallClock: () => Instant;
}

export type AccountTrail = (
  request: FastifyRequest,
  person: Pick<Person, 'id'>,
  action: AccountAction,
) => Promise<void>;

/**
 * An account does not belong to one organization: what a person does with it leaves a row in the audit trail of each of theirs. The change
 * itself is made by the identity library, in a transaction of its own, so the rows follow it; a failure to write them is logged
 * and does not undo it.
 */
export function accountTrail({ engine, reader, wallClock }: AccountTrailSettings): AccountTrail {
  return async (request, { id }, action) => {
    try {
      const memberships = await findMemberships(reader, id);
      const noted = memberships.map(({ orgId }) =>
        engine.submit({
          kind: noteAccount[action],
          input: { personId: id },
          idempotency: null,
          wallNow: wallClock(),
          context: {
            orgId,
            appId: null,
            settings: defaultApplicationSettings,
            actor: { kind: 'person', id },
            requestId: request.id,
            ip: request.ip,
            suffix: newSuffix(),
          },
        }),
      );
      await Promise.all(noted);
    } catch (error) {
      request.log.error({ err: error, requestId: request.id, action }, 'account change not audited');
    }
  };
}
