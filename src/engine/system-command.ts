import { defaultApplicationSettings } from '../kernel/application-settings.ts';
import type { CommandKind } from '../kernel/command.ts';
import { formatId } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';
import { newSuffix } from './ids.ts';
import type { Submission } from './submission.ts';

/** A command that nobody asked for but Sandbank itself: in its own name, under a request id of its own. */
export function systemCommand<Input>(
  kind: CommandKind<Input>,
  input: Input,
  { orgId, appId }: { readonly orgId: string; readonly appId: string | null },
  by: string,
  wallNow: Instant,
  suffix = newSuffix(),
): Submission {
  return {
    kind,
    input,
    idempotency: null,
    wallNow,
    context: {
      orgId,
      appId,
      settings: defaultApplicationSettings,
      actor: { kind: 'system', id: by },
      requestId: formatId('request', suffix),
      ip: null,
      suffix,
    },
  };
}
