import { defaultApplicationSettings } from '../kernel/application-settings.ts';
import type { CommandRequest } from '../kernel/command.ts';
import type { Advancing, ClockRow } from '../resources/clocks/table.ts';

/** An application whose clock is moved. */
export interface Application {
  readonly orgId: string;
  readonly appId: string;
}

/** Whom an advance is carried on for, as its clock remembers. */
export function contextOf(
  { orgId, appId }: ClockRow,
  { requestId, actorKind = 'api_key', actorId, ip }: Advancing,
  suffix: string,
): CommandRequest {
  return {
    orgId,
    appId,
    actor: { kind: actorKind, id: actorId },
    requestId,
    ip,
    settings: defaultApplicationSettings,
    suffix,
  };
}

export function applicationOf({ orgId, appId }: CommandRequest): Application {
  if (appId === null) throw new Error('a clock belongs to an application');
  return { orgId, appId };
}
