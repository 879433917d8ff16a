import { useNavigate } from '@tanstack/react-router';
import { useContext } from 'react';
import { useLive } from '../client/live.tsx';
import { ClockContext } from '../client/now.ts';
import { type List, useRead, useWrite } from '../client/queries.ts';
import { useScope } from '../client/scope.ts';
import { localZoneName, setZone, useZone } from '../client/zone.ts';
import type { Application, Clock, ClockAdvanced } from '../generated/shapes.ts';
import { pluralize } from '../parts/text.ts';
import { useToast } from '../parts/toast.tsx';
import { signOut, useAllowed, useSession } from './session.tsx';
import { setTheme, useTheme } from './theme.ts';

export interface PaletteCommand {
  readonly label: string;
  readonly run: () => void;
}

const creations: readonly (readonly [label: string, page: string, role: 'developer' | 'admin'])[] = [
  ['Create payment', 'payments', 'developer'],
  ['Create customer', 'customers', 'developer'],
  ['Create transfer', 'transfers', 'developer'],
  ['Create webhook', 'webhooks', 'developer'],
  ['Create event', 'events', 'developer'],
  ['Create fault', 'faults', 'developer'],
  ['Create API key', 'keys', 'developer'],
  ['Create application', 'applications', 'developer'],
  ['Invite member', 'members', 'admin'],
];

/** Everything that the palette can do, for the role of the person. */
export function useCommands(): readonly PaletteCommand[] {
  const navigate = useNavigate();
  const { orgId } = useScope();
  const isDeveloper = useAllowed('developer');
  const isAdmin = useAllowed('admin');
  const { isPaused, setPaused, refresh } = useLive();
  const clock = useClockCommands();
  const switches = useSwitchCommands();
  const theme = useTheme();
  const zone = useZone();
  const may = { developer: isDeveloper, admin: isAdmin };
  return [
    ...creations
      .filter(([, , role]) => may[role])
      .map(([label, page]) => ({
        label,
        run: () => void navigate({ to: `/${orgId}/${page}`, search: { create: '1' } as never }),
      })),
    ...(isDeveloper ? clock : []),
    ...switches,
    {
      label: isPaused ? 'Resume live updates' : 'Pause live updates',
      run: () => setPaused(!isPaused),
    },
    { label: 'Refresh', run: refresh },
    ...(['light', 'dark', 'system'] as const)
      .filter((choice) => choice !== theme)
      .map((choice) => ({ label: `Theme: ${choice}`, run: () => setTheme(choice) })),
    ...(localZoneName === 'UTC'
      ? []
      : [
          zone === 'utc'
            ? { label: `Time zone: ${localZoneName}`, run: () => setZone('local') }
            : { label: 'Time zone: UTC', run: () => setZone('utc') },
        ]),
    { label: 'Documentation', run: () => void window.open('/docs', '_blank', 'noreferrer') },
    { label: 'Account', run: () => void navigate({ to: '/account' }) },
    { label: 'Sign out', run: () => void signOut() },
  ];
}

const daySeconds = 86_400;

function useClockCommands(): readonly PaletteCommand[] {
  const { toast } = useToast();
  const reading = useContext(ClockContext);
  const onFailed = ({ message }: { readonly message: string }) => toast(message, { isBad: true });
  const advance = useWrite<ClockAdvanced>('app/developer_api_clock/advance', {
    onDone: ({ happened }) => toast(`Clock advanced: ${pluralize(happened.length, 'event')} processed`),
    onFailed,
  });
  const change = useWrite<Clock>('app/developer_api_clock/reset', {
    onDone: ({ status }) => toast(`Clock ${status}`),
    onFailed,
  });
  const isFrozen = reading?.clock.status === 'frozen';
  return [
    { label: 'Clock: advance 1 hour', run: () => void advance.write({ seconds: 3_600 }) },
    { label: 'Clock: advance 1 day', run: () => void advance.write({ seconds: daySeconds }) },
    { label: 'Clock: advance 1 week', run: () => void advance.write({ seconds: 7 * daySeconds }) },
    isFrozen
      ? { label: 'Clock: resume', run: () => void change.write({}, 'app/developer_api_clock/resume') }
      : { label: 'Clock: freeze', run: () => void change.write({}, 'app/developer_api_clock/freeze') },
    { label: 'Clock: reset to real time', run: () => void change.write({}) },
  ];
}

function useSwitchCommands(): readonly PaletteCommand[] {
  const navigate = useNavigate();
  const { orgId, appId } = useScope();
  const { organizations } = useSession();
  const applications = useRead<List<Application>>('org/applications', { limit: 100 }).data?.data ?? [];
  return [
    ...applications
      .filter(({ id, status }) => id !== appId && status === 'active')
      .map(({ id, name }) => ({
        label: `Switch to application ${name}`,
        run: () => void navigate({ to: `/${orgId}`, search: { app: id } as never }),
      })),
    ...organizations
      .filter(({ id }) => id !== orgId)
      .map(({ id, name }) => ({
        label: `Switch to organization ${name}`,
        run: () => void navigate({ to: `/${id}`, search: { app: undefined } as never }),
      })),
  ];
}
