import { newSuffix } from '../../src/engine/ids.ts';
import { defaultApplicationSettings } from '../../src/kernel/application-settings.ts';
import type { CommandKind, Submission } from '../../src/kernel/command.ts';
import { formatId, type Id } from '../../src/kernel/ids.ts';
import type { KeyHolder } from './tenant.ts';
/** Commands submitted to an engine directly, without HTTP. */

export interface SubmissionSettings {
  readonly wallNow: number;
  /** The id suffix of the record that the command creates; random by default. */
  readonly suffix?: string;
  readonly requestId?: Id<'request'>;
  readonly idempotency?: Submission['idempotency'];
}

/** A command on behalf of an API key. */
export function submission<Input, Result>(
  { orgId, appId, keyId }: KeyHolder,
  kind: CommandKind<Input, Result>,
  input: Input,
  settings: SubmissionSettings,
): Submission<Input, Result> {
  const { wallNow, suffix = newSuffix(), idempotency = null } = settings;
  const { requestId = formatId('request', suffix) } = settings;
  return {
    kind,
    input,
    idempotency,
    wallNow,
    context: {
      ...{ orgId, appId, suffix, requestId, ip: null, settings: defaultApplicationSettings },
      actor: { kind: 'api_key', id: keyId },
    },
  };
}
