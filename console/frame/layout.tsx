import { Outlet, useLocation, useParams } from '@tanstack/react-router';
import { Boxes } from 'lucide-react';
import { useMemo, useState } from 'react';
import { ClockContext, type ClockReading } from '../client/now.ts';
import { useRead } from '../client/queries.ts';
import { ScopeContext } from '../client/scope.ts';
import type { Application, Clock } from '../client/shapes.ts';
import { Anchor } from '../parts/anchor.tsx';
import { buttonClass } from '../parts/button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { ProblemBanner } from '../parts/problem.tsx';
import { PageSkeleton } from '../parts/skeleton.tsx';
import { useChosenApplication } from './applications.tsx';
import { Missing } from './fallback.tsx';
import { Header } from './header.tsx';
import { isOrganizational } from './pages.ts';
import { PaletteHost } from './palette-host.tsx';
import { useAllowed, useSession } from './session.tsx';
import { Drawer, Sidebar } from './sidebar.tsx';

/** Everything inside an organization: it provides the scope, then sidebar, header and the page. */
export function Layout() {
  const params: { orgId?: string } = useParams({ strict: false });
  const orgId = params.orgId ?? '';
  const { organizations } = useSession();
  const scope = useMemo(() => ({ orgId, appId: null }), [orgId]);
  if (!organizations.some(({ id }) => id === orgId)) return <Missing />;
  return (
    <ScopeContext value={scope}>
      <Organization key={orgId} orgId={orgId} />
    </ScopeContext>
  );
}

function Organization({ orgId }: { readonly orgId: string }) {
  const state = useChosenApplication(orgId);
  const appId = state.chosen?.id ?? null;
  const scope = useMemo(() => ({ orgId, appId }), [orgId, appId]);
  return (
    <ScopeContext value={scope}>
      <WithClock>
        <Shell applications={state.applications} chosen={state.chosen}>
          {state.isLoading ? (
            <PageSkeleton />
          ) : state.problem && state.chosen === undefined ? (
            <ProblemBanner problem={state.problem} onRetry={state.refresh} />
          ) : (
            <Page hasApplication={appId !== null} />
          )}
        </Shell>
      </WithClock>
    </ScopeContext>
  );
}

/** The application's clock is asked for once and shared by every instant on the page. */
function WithClock({ children }: { readonly children: React.ReactNode }) {
  const { data } = useRead<Clock>('app/developer_api_clock', {}, { everyMs: 60_000 });
  const reading = useMemo<ClockReading | null>(
    () => (data === undefined ? null : { clock: data, readAtMs: Date.now() }),
    [data],
  );
  return <ClockContext value={reading}>{children}</ClockContext>;
}

interface ShellProps {
  readonly applications: readonly Application[];
  readonly chosen: Application | undefined;
  readonly children: React.ReactNode;
}

function Shell({ applications, chosen, children }: ShellProps) {
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
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
          chosen={chosen}
          onDrawer={() => setDrawerOpen(true)}
          onSearch={() => setPaletteOpen(true)}
        />
        <main id="main" tabIndex={-1} className="mx-auto max-w-[76rem] px-4 pt-6 pb-20 sm:px-8">
          {chosen?.status === 'archived' ? (
            <p className="mb-5 rounded-md bg-warn-soft px-3.5 py-2 text-warn">
              This application is archived. Its records can be read; nothing new can be made.
            </p>
          ) : null}
          {children}
        </main>
      </div>
      <PaletteHost isOpen={isPaletteOpen} onOpenChange={setPaletteOpen} />
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
          title={mayCreate ? 'Make your first application' : 'Nobody has made an application yet'}
          action={
            mayCreate ? (
              <Anchor to="applications" search={{ create: '1' }} className={buttonClass('primary')}>
                Create application
              </Anchor>
            ) : undefined
          }
        >
          An application has API keys, webhooks, settings and a clock of its own. Payments, customers,
          transfers and the books belong to the organization, and all its applications see them.
        </EmptyState>
      </div>
    </>
  );
}
