import { type List, useRead } from '../../client/queries.ts';
import type { AccountEvent } from '../../generated/shapes.ts';
import { Card } from '../../parts/card.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { sentenceCase } from '../../parts/text.ts';
import { Time } from '../../parts/time.tsx';
import { deviceName } from './devices.tsx';

const labels: Readonly<Record<string, string>> = {
  sign_up: 'Account created',
  sign_in: 'Signed in',
  sign_in_failed: 'Sign-in failed: wrong password',
  sign_out: 'Signed out',
  rename: 'Name changed',
  change_email: 'Email changed',
  change_password: 'Password changed',
  reset_password: 'Password reset with a link',
  enable_two_factor: 'Two-factor sign-in turned on',
  disable_two_factor: 'Two-factor sign-in turned off',
  two_factor_failed: 'Two-factor code rejected',
  use_backup_code: 'Backup code used',
  regenerate_backup_codes: 'Backup codes replaced',
  add_passkey: 'Passkey added',
  remove_passkey: 'Passkey removed',
  revoke_sessions: 'Sessions ended',
};

/** What happened to the account, newest first, so that the person notices what somebody else did. */
export function History() {
  const { data, problem, refresh } = useRead<List<AccountEvent>>('session/history');
  return (
    <Card
      title="Security history"
      description="Sign-ins, failed attempts and changes of your account in the last 90 days. Only you see them."
    >
      {problem ? <ProblemBanner problem={problem} onRetry={refresh} /> : null}
      {data === undefined && !problem ? <Skeleton className="h-16 w-full" /> : null}
      {data?.data.length === 0 ? <p className="text-sm text-muted">No events yet.</p> : null}
      <ul aria-label="Security history" className="flex flex-col">
        {data?.data.map((event) => (
          <li key={event.id} className="border-t py-2.5 first:border-t-0 first:pt-0 last:pb-0">
            <p className="font-medium">{labels[event.action] ?? sentenceCase(event.action)}</p>
            <p className="text-sm text-muted" title={event.userAgent ?? undefined}>
              <Time at={event.at} kind="wall" show="both" /> · {event.ip ?? 'Unknown address'} ·{' '}
              {deviceName(event.userAgent)}
            </p>
          </li>
        ))}
      </ul>
    </Card>
  );
}
