import { Monitor, Smartphone } from 'lucide-react';
import { type List, useRead, useWrite } from '../../client/queries.ts';
import type { DeviceSession } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { useToast } from '../../parts/toast.tsx';

/** The person's sessions, with a button to end each. */
export function Devices() {
  const { data, problem, refresh } = useRead<List<DeviceSession>>('session/devices');
  const { toast } = useToast();
  const revoke = useWrite('session/devices/revoke_others', { onDone: () => toast('Session ended') });
  const sessions = data?.data ?? [];
  const failed = problem ?? revoke.problem;
  return (
    <Card
      title="Sessions"
      description="Where you are signed in."
      actions={
        sessions.length > 1 ? (
          <Button size="small" isBusy={revoke.isBusy} onClick={() => void revoke.write({})}>
            Sign out everywhere else
          </Button>
        ) : undefined
      }
    >
      {failed ? <ProblemBanner problem={failed} onRetry={refresh} /> : null}
      {data === undefined && !problem ? <Skeleton className="h-16 w-full" /> : null}
      <ul className="flex flex-col">
        {sessions.map((session) => (
          <li
            key={session.id}
            className="flex items-center gap-3 border-t py-3 first:border-t-0 first:pt-0 last:pb-0"
          >
            <Device session={session} />
            {session.isCurrent ? (
              <StatusBadge status="active" label="This session" />
            ) : (
              <Button
                size="small"
                aria-label={`Sign out ${deviceName(session.userAgent)}`}
                disabled={revoke.isBusy}
                onClick={() => void revoke.write({}, `session/devices/${session.id}/revoke`)}
              >
                Sign out
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Device({ session }: { readonly session: DeviceSession }) {
  const Icon = /Mobile|Android|iPhone/.test(session.userAgent ?? '') ? Smartphone : Monitor;
  return (
    <>
      <Icon aria-hidden size={18} className="shrink-0 text-muted" />
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium" title={session.userAgent ?? undefined}>
          {deviceName(session.userAgent)}
        </p>
        <p className="text-sm text-muted">
          {session.ip ?? 'Unknown address'} · last seen{' '}
          <Time at={session.lastSeenAt} kind="wall" show="relative" />
        </p>
      </div>
    </>
  );
}

/** 'Firefox on Linux': enough to recognize a device. The title contains the full user agent. */
export function deviceName(userAgent: string | null): string {
  const text = userAgent ?? '';
  const browser = /Edg\//.test(text)
    ? 'Edge'
    : (/(Firefox|Chrome|Safari|curl)/.exec(text)?.[1] ?? 'Unknown browser');
  const system = /(iPhone|iPad|Android|Windows|Mac OS|Linux)/.exec(text)?.[1];
  return system === undefined ? browser : `${browser} on ${system}`;
}
