import { Outlet, useLocation, useParams } from '@tanstack/react-router';
import { Boxes } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { LiveProvider } from '../client/live.tsx';
import { ClockContext, type ClockReading } from '../client/now.ts';
import { useRead } from '../client/queries.ts';
import { ScopeContext } from '../client/scope.ts';
import { useZone } from '../client/zone.ts';
import type { Application, Clock } from '../generated/shapes.ts';
import { TwoFactorRequired } from '../pages/organization/two-factor-required.tsx';
import { Anchor } from '../parts/anchor.tsx';
import { buttonClass } from '../parts/button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { ProblemBanner } from '../parts/problem.tsx';
import { PageSkeleton } from '../parts/skeleton.tsx';
import { useSelectedApplication } from './applications.tsx';
import { NotFound } from './fallback.tsx';
import { Header } from './header.tsx';
import { isOrganizational } from './pages.ts';
import { PaletteHost } from './palette-host.tsx';
import { useAllowed, useSession } from './session.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { Drawer, Sidebar } from './sidebar.tsx';
import { Strips, useStripsKnown } from './strips.tsx';

/** Everything inside an organization: scope, sidebar, header and the page. */
export function Layout() {
  const params: { orgId?: string } = useParams({ strict: false });
  const orgId = params.orgId ?? '';
  const { organizations, person } = useSession();
  const scope = useMemo(() => ({ orgId, appId: null }), [orgId]);
  const organization = organizations.find(({ id }) => id === orgId);
  if (organization === undefined) return <NotFound />;
  if (organization.requiresTwoFactor && !person?.twoFactor)
    return <TwoFactorRequired orgId={orgId} name={organization.name} />;
  return (
    <ScopeContext value={scope}>
      <Organization key={orgId} orgId={orgId} />
    </ScopeContext>
  );
}

function Organization({ orgId }: { readonly orgId: string }) {
  // Times are formatted in many places: a change of the zone renders them all again.
  const zone = useZone();
  const state = useSelectedApplication(orgId);
  const appId = state.selected?.id ?? null;
  const scope = useMemo(() => ({ orgId, appId }), [orgId, appId]);
  return (
    <ScopeContext value={scope}>
      <LiveProvider>
        <ClockProvider>
          <Shell applications={state.applications} selected={state.selected} isLoading={state.isLoading}>
            {state.isLoading ? null : state.problem && state.selected === undefined ? (
              <ProblemBanner problem={state.problem} onRetry={state.refresh} />
            ) : (
              <Page key={zone} hasApplication={appId !== null} />
            )}
          </Shell>
        </ClockProvider>
      </LiveProvider>
    </ScopeContext>
  );
}

/** Reads the application clock once for all times on the page. */
function ClockProvider({ children }: { readonly children: ReactNode }) {
  const { data } = useRead<Clock>('app/developer_api_clock', {}, { everyMs: 60_000 });
  const reading = useMemo<ClockReading | null>(
    () => (data === undefined ? null : { clock: data, readAtMs: Date.now() }),
    [data],
  );
  return <ClockContext value={reading}>{children}</ClockContext>;
}

interface ShellProps {
  readonly applications: readonly Application[];
  readonly selected: Application | undefined;
  readonly isLoading: boolean;
  readonly children: ReactNode;
}

const content = 'mx-auto max-w-[76rem] px-4 sm:px-8 2xl:max-w-[90rem]';

/** The page is rendered at once, so that it loads its data, and shown together with the strips above it, so that they do not move it. */
function Shell({ applications, selected, isLoading, children }: ShellProps) {
  const areStripsKnown = useStripsKnown();
  const isShown = !isLoading && (areStripsKnown || selected === undefined);
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [isSheetOpen, setSheetOpen] = useState(false);
  return (
    <div className="lg:grid lg:grid-cols-[14.5rem_minmax(0,1fr)]">
      <a
        href="#main"
        className="sr-only z-[80] rounded-md bg-accent px-3 py-2 font-medium text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to the content
      </a>
      <Sidebar />
      <Drawer isOpen={isDrawerOpen} onOpenChange={setDrawerOpen} />
      <div className="min-w-0">
        <Header
          applications={applications}
          selected={selected}
          onDrawer={() => setDrawerOpen(true)}
          onSearch={() => setPaletteOpen(true)}
        />
        {isShown && selected !== undefined ? <Strips /> : null}
        {isShown ? null : (
          <div className={`${content} pt-6`}>
            <PageSkeleton />
          </div>
        )}
        <main
          id="main"
          tabIndex={-1}
          className={`${content} ${isShown ? 'pt-6 pb-20' : 'invisible h-0 overflow-hidden'}`}
        >
          {selected?.status === 'archived' ? (
            <p className="mb-5 rounded-md bg-warn-soft px-3.5 py-2 text-warn">
              This application is archived. Its records are readable, but nothing can be created.
            </p>
          ) : null}
          {children}
        </main>
      </div>
      <Shortcuts isOpen={isSheetOpen} onOpenChange={setSheetOpen} onSearch={() => setPaletteOpen(true)} />
      <PaletteHost
        isOpen={isPaletteOpen}
        onOpenChange={setPaletteOpen}
        onShortcuts={() => setSheetOpen(true)}
      />
    </div>
  );
}

function Page({ hasApplication }: { readonly hasApplication: boolean }) {
  const mayCreate = useAllowed('developer');
  const section = useLocation({ select: ({ pathname }) => pathname.split('/').filter(Boolean)[1] ?? '' });
  if (hasApplication || isOrganizational(section)) return <Outlet />;
  return (
    <>
      <PageHeader title="No application yet" />
      <div className="rounded-lg border bg-surface">
        <EmptyState
          icon={<Boxes aria-hidden size={20} />}
          title={mayCreate ? 'Create your first application' : 'No application has been created yet'}
          action={
            mayCreate ? (
              <Anchor to="applications" search={{ create: '1' }} className={buttonClass('primary')}>
                Create application
              </Anchor>
            ) : undefined
          }
        >
          An application has its own API keys, webhooks, settings and clock. Payments, customers, transfers
          and the ledger belong to the organization and are shared by its applications.
        </EmptyState>
      </div>
    </>
  );
}
