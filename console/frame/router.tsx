import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  Outlet,
  retainSearchParams,
} from '@tanstack/react-router';
import { loadModule } from '../client/load-module.ts';
import { PageSkeleton } from '../parts/skeleton.tsx';
import { ErrorPage, NotFound, NotFoundPage } from './fallback.tsx';
import { Layout } from './layout.tsx';
import { RequirePerson } from './require-person.tsx';
import { useSession } from './session.tsx';

/** Every page is a separate module, loaded on its first visit. Search params are plain text, never JSON. */
const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

const home = createRoute({ getParentRoute: () => root, path: '/', component: Home });

/** Redirects to the first organization, or to the page that creates one. */
function Home() {
  const { organizations } = useSession();
  const first = organizations[0];
  return (
    <RequirePerson>
      {first === undefined ? <Navigate to="/welcome" replace /> : <Navigate to={`/${first.id}`} replace />}
    </RequirePerson>
  );
}

type Loader = Parameters<typeof lazyRouteComponent>[0];

/**
 * If a module cannot be loaded, the router reloads the window: after an update of the server the old modules are gone. While
 * the server does not respond, that would leave the console for an error page of the browser, so the request's error is thrown.
 */
function lazyPage(load: Loader, name: string) {
  return lazyRouteComponent(() => loadModule(load), name);
}

const publicRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: 'sign-in',
    component: lazyPage(() => import('../pages/sign-in.tsx'), 'SignIn'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: 'sign-up',
    component: lazyPage(() => import('../pages/sign-up.tsx'), 'SignUp'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: 'invitation/$token',
    component: lazyPage(() => import('../pages/invitation.tsx'), 'Invitation'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: 'reset/$token',
    component: lazyPage(() => import('../pages/reset.tsx'), 'Reset'),
  }),
];

const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'personal',
  component: () => (
    <RequirePerson>
      <Outlet />
    </RequirePerson>
  ),
});

const accountRoutes = [
  createRoute({
    getParentRoute: () => signedIn,
    path: 'welcome',
    component: lazyPage(() => import('../pages/welcome.tsx'), 'Welcome'),
  }),
  createRoute({
    getParentRoute: () => signedIn,
    path: 'account',
    component: lazyPage(() => import('../pages/account/page.tsx'), 'Account'),
  }),
];

const organization = createRoute({
  getParentRoute: () => root,
  path: '$orgId',
  component: () => (
    <RequirePerson>
      <Layout />
    </RequirePerson>
  ),
  notFoundComponent: NotFoundPage,
  search: { middlewares: [retainSearchParams(['app' as never])] },
});

const page = (path: string, load: Loader, name: string) =>
  createRoute({ getParentRoute: () => organization, path, component: lazyPage(load, name) });

const organizationRoutes = [
  page('/', () => import('../pages/overview.tsx'), 'Overview'),
  page('start', () => import('../pages/start.tsx'), 'Start'),
  page('payments', () => import('../pages/payments/list.tsx'), 'PaymentList'),
  page('payments/$id', () => import('../pages/payments/detail.tsx'), 'PaymentDetail'),
  page('customers', () => import('../pages/customers/list.tsx'), 'CustomerList'),
  page('customers/$id', () => import('../pages/customers/detail.tsx'), 'CustomerDetail'),
  page('transfers', () => import('../pages/transfers/list.tsx'), 'TransferList'),
  page('transfers/$id', () => import('../pages/transfers/detail.tsx'), 'TransferDetail'),
  page('refunds', () => import('../pages/refunds/list.tsx'), 'RefundList'),
  page('refunds/$id', () => import('../pages/refunds/detail.tsx'), 'RefundDetail'),
  page('disputes', () => import('../pages/disputes/list.tsx'), 'DisputeList'),
  page('disputes/$id', () => import('../pages/disputes/detail.tsx'), 'DisputeDetail'),
  page('ledger', () => import('../pages/ledger.tsx'), 'Ledger'),
  page('reconciliation', () => import('../pages/reconciliation.tsx'), 'Reconciliation'),
  page('webhooks', () => import('../pages/webhooks/list.tsx'), 'WebhookList'),
  page('webhooks/$id', () => import('../pages/webhooks/detail.tsx'), 'WebhookDetail'),
  page('webhooks/$id/inbox', () => import('../pages/inbox/page.tsx'), 'InboxPage'),
  page('deliveries/$id', () => import('../pages/deliveries/detail.tsx'), 'DeliveryDetail'),
  page('events', () => import('../pages/events/list.tsx'), 'EventList'),
  page('events/$id', () => import('../pages/events/detail.tsx'), 'EventDetail'),
  page('requests', () => import('../pages/requests/list.tsx'), 'RequestList'),
  page('requests/$id', () => import('../pages/requests/detail.tsx'), 'RequestDetail'),
  page('faults', () => import('../pages/faults/list.tsx'), 'FaultPlanList'),
  page('coverage', () => import('../pages/coverage.tsx'), 'Coverage'),
  page('audit', () => import('../pages/audit.tsx'), 'Audit'),
  page('keys', () => import('../pages/keys.tsx'), 'Keys'),
  page('applications', () => import('../pages/applications/list.tsx'), 'ApplicationList'),
  page('applications/$id', () => import('../pages/applications/detail.tsx'), 'ApplicationDetail'),
  page('members', () => import('../pages/members.tsx'), 'Members'),
  page('organization', () => import('../pages/organization.tsx'), 'Organization'),
];

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    ...publicRoutes,
    signedIn.addChildren(accountRoutes),
    organization.addChildren(organizationRoutes),
  ]),
  basepath: '/console',
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const text = new URLSearchParams();
    for (const [name, value] of Object.entries(search)) {
      if (value !== undefined && value !== null && value !== '') text.set(name, String(value));
    }
    return text.size === 0 ? '' : `?${text}`;
  },
  defaultPreload: 'intent',
  defaultPendingComponent: PageSkeleton,
  defaultErrorComponent: ErrorPage,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: true,
});

/** For screen readers: after a path change the focus moves to the heading. */
router.subscribe('onRendered', ({ pathChanged, fromLocation }) => {
  if (!pathChanged || fromLocation === undefined) return;
  const target =
    document.querySelector<HTMLElement>('main h1') ?? document.querySelector<HTMLElement>('main');
  target?.focus({ preventScroll: true });
});
