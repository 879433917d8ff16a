import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  Outlet,
  retainSearchParams,
} from '@tanstack/react-router';
import { PageSkeleton } from '../parts/skeleton.tsx';
import { Crash, Missing, MissingPage } from './fallback.tsx';
import { Layout } from './layout.tsx';
import { RequirePerson, useSession } from './session.tsx';

/** Every page is a module of its own, loaded when it is visited. Search params are plain text, never JSON. */
const root = createRootRoute({ component: Outlet, notFoundComponent: Missing });

const home = createRoute({ getParentRoute: () => root, path: '/', component: Home });

/** The first organization, or the page that makes one. */
function Home() {
  const { organizations } = useSession();
  const first = organizations[0];
  return (
    <RequirePerson>
      {first === undefined ? <Navigate to="/welcome" replace /> : <Navigate to={`/${first.id}`} replace />}
    </RequirePerson>
  );
}

const open = [
  createRoute({
    getParentRoute: () => root,
    path: 'sign-in',
    component: lazyRouteComponent(() => import('../pages/sign-in.tsx'), 'SignIn'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: 'sign-up',
    component: lazyRouteComponent(() => import('../pages/sign-up.tsx'), 'SignUp'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: 'invitation/$token',
    component: lazyRouteComponent(() => import('../pages/invitation.tsx'), 'Invitation'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: 'reset/$token',
    component: lazyRouteComponent(() => import('../pages/reset.tsx'), 'Reset'),
  }),
];

const personal = createRoute({
  getParentRoute: () => root,
  id: 'personal',
  component: () => (
    <RequirePerson>
      <Outlet />
    </RequirePerson>
  ),
});

const own = [
  createRoute({
    getParentRoute: () => personal,
    path: 'welcome',
    component: lazyRouteComponent(() => import('../pages/welcome.tsx'), 'Welcome'),
  }),
  createRoute({
    getParentRoute: () => personal,
    path: 'account',
    component: lazyRouteComponent(() => import('../pages/account/page.tsx'), 'Account'),
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
  notFoundComponent: MissingPage,
  search: { middlewares: [retainSearchParams(['app' as never])] },
});

type Loader = Parameters<typeof lazyRouteComponent>[0];
const page = (path: string, load: Loader, name: string) =>
  createRoute({ getParentRoute: () => organization, path, component: lazyRouteComponent(load, name) });

const inside = [
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
  routeTree: root.addChildren([home, ...open, personal.addChildren(own), organization.addChildren(inside)]),
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
  defaultErrorComponent: Crash,
  defaultNotFoundComponent: Missing,
  scrollRestoration: true,
});

/** A screen reader follows the page: after a change of path the focus goes to the heading. */
router.subscribe('onRendered', ({ pathChanged, fromLocation }) => {
  if (!pathChanged || fromLocation === undefined) return;
  const target =
    document.querySelector<HTMLElement>('main h1') ?? document.querySelector<HTMLElement>('main');
  target?.focus({ preventScroll: true });
});
