import { defaultApplicationSettings } from '../kernel/application-settings.ts';
import type { CommandKind, CommandRequest, Submission } from '../kernel/command.ts';
import { formatId, type Id } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';
import { newSuffix } from './ids.ts';

interface Scope {
  readonly orgId: Id<'organization'>;
  readonly appId: Id<'application'> | null;
}

/** A command that Sandbank itself submits, as the system actor and with a new request id. */
export function systemCommand<Input, Result>(
  kind: CommandKind<Input, Result>,
  input: Input,
  scope: Scope,
  actorId: string,
  wallNow: Instant,
  suffix = newSuffix(),
): Submission<Input, Result> {
  return { ...systemRequest(scope, actorId, wallNow, suffix), kind, input };
}

export function systemRequest(
  { orgId, appId }: Scope,
  actorId: string,
  wallNow: Instant,
  suffix: string,
): CommandRequest {
  return {
    idempotency: null,
    wallNow,
    context: {
      orgId,
      appId,
      settings: defaultApplicationSettings,
      actor: { kind: 'system', id: actorId },
      requestId: formatId('request', suffix),
      ip: null,
      suffix,
    },
  };
}
