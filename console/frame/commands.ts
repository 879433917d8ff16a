import { useNavigate } from '@tanstack/react-router';
import { useContext } from 'react';
import { useLive } from '../client/live.tsx';
import { ClockContext } from '../client/now.ts';
import { type PageCommand, useOfferedCommands } from '../client/page-commands.ts';
import { type List, useRead, useWrite } from '../client/queries.ts';
import { useScope } from '../client/scope.ts';
import { localZoneName, setZone, useZone } from '../client/zone.ts';
import type { Application, Clock, ClockAdvanced, WebhookWithSecret } from '../generated/shapes.ts';
import { pluralize } from '../parts/text.ts';
import { useToast } from '../parts/toast.tsx';
import { creations } from './pages.ts';
import { signOut, useAllowed, useMayCreateOrganization, useSession } from './session.tsx';
import { setTheme, useTheme } from './theme.ts';

/** Everything that the palette can do, for the role of the person: first what the open page offers. */
export function useCommands(onShortcuts: () => void): readonly PageCommand[] {
  const navigate = useNavigate();
  const { orgId } = useScope();
  const isDeveloper = useAllowed('developer');
  const isAdmin = useAllowed('admin');
  const { isPaused, setPaused, refresh } = useLive();
  const offered = useOfferedCommands();
  const clock = useClockCommands();
  const inbox = useInboxCommand();
  const copies = useSnapshotCommands();
  const switches = useSwitchCommands();
  const theme = useTheme();
  const zone = useZone();
  const may = { developer: isDeveloper, admin: isAdmin };
  return [
    ...offered,
    ...creations
      .filter(({ role }) => may[role])
      .map(({ label, page }) => ({
        label,
        run: () => void navigate({ to: `/${orgId}/${page}`, search: { create: '1' } as never }),
      })),
    ...(isDeveloper ? [inbox, ...clock] : []),
    ...(isAdmin ? copies : []),
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
    { label: 'Keyboard shortcuts', run: onShortcuts },
    { label: 'Documentation', run: () => void window.open('/docs', '_blank', 'noreferrer') },
    { label: 'Account', run: () => void navigate({ to: '/account' }) },
    { label: 'Sign out', run: () => void signOut() },
  ];
}

const daySeconds = 86_400;

function useClockCommands(): readonly PageCommand[] {
  const { toast } = useToast();
  const reading = useContext(ClockContext);
  const onFailed = ({ message }: { readonly message: string }) => toast(message, { isBad: true });
  const advance = useWrite<ClockAdvanced>('app/developer_api_clock/advance', {
    onDone: ({ happened }) => toast(`Clock advanced: ${pluralize(happened.length, 'event')} processed`),
    onFailed,
  });
  const change = useWrite<Clock>('app/developer_api_clock/freeze', {
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
      : { label: 'Clock: freeze', run: () => void change.write({}) },
  ];
}

/** Opens the inbox of the application; the first time it is created. */
function useInboxCommand(): PageCommand {
  const { toast } = useToast();
  const navigate = useNavigate();
  const { orgId } = useScope();
  const open = useWrite<WebhookWithSecret>('app/developer_api_webhook_inbox', {
    onDone: ({ id }) => void navigate({ to: `/${orgId}/webhooks/${id}/inbox` }),
    onFailed: ({ message }) => toast(message, { isBad: true }),
  });
  return { label: 'Open webhook inbox', run: () => void open.write({}) };
}

/** They lead to the page of the organization, with the dialog open. */
function useSnapshotCommands(): readonly PageCommand[] {
  const navigate = useNavigate();
  const { orgId } = useScope();
  const mayFork = useMayCreateOrganization();
  const open = (dialog?: string) =>
    void navigate({
      to: `/${orgId}/organization`,
      search: (dialog === undefined ? {} : { [dialog]: '1' }) as never,
    });
  return [
    { label: 'Download snapshot', run: () => open() },
    { label: 'Restore snapshot…', run: () => open('restore') },
    ...(mayFork ? [{ label: 'Fork organization…', run: () => open('fork') }] : []),
    { label: 'Reset organization…', run: () => open('reset') },
  ];
}

function useSwitchCommands(): readonly PageCommand[] {
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
