import { defaultApplicationSettings } from '../kernel/application-settings.ts';
import type { Actor, RequestContext } from '../kernel/command.ts';
import type { Id } from '../kernel/ids.ts';
import type { Advancing, ClockRow } from '../resources/clocks/table.ts';

/** The application that owns the clock. */
export interface Application {
  readonly orgId: Id<'organization'>;
  readonly appId: Id<'application'>;
}

/** The original caller of a resumed advance, as stored in the clock row. */
export function contextOf(
  { orgId, appId }: ClockRow,
  { requestId, actorKind = 'api_key', actorId, ip }: Advancing,
  suffix: string,
): RequestContext {
  return {
    orgId,
    appId,
    // Stored as JSON in the clock row.
    actor: { kind: actorKind, id: actorId } as Actor,
    requestId,
    ip,
    settings: defaultApplicationSettings,
    suffix,
  };
}

export function applicationOf({ orgId, appId }: RequestContext): Application {
  if (appId === null) throw new Error('a clock belongs to an application');
  return { orgId, appId };
}
