import { untilLoaded, type Watched } from '../support/browser.ts';
import { viewer, type World } from './world.ts';

/** What the addresses below are made of. */
export interface Ids extends Omit<World, 'caller' | 'close'> {
  readonly acme: string;
  readonly newcomers: string;
  readonly unbuilt: string;
  readonly request: { readonly id: string };
  readonly application: { readonly id: string };
  readonly invitationToken: string;
  readonly resetToken: string;
}

export interface Visit {
  /** As console/frame/router.tsx has it. */
  readonly route: string;
  readonly by: 'owner' | 'nobody';
  readonly address: (ids: Ids) => string;
  /** What the name of the test says besides the route. */
  readonly of?: string;
}

const inside = (
  route: string,
  rest: (ids: Ids) => string = () => route,
  more: Pick<Visit, 'of'> = {},
): Visit => ({
  route,
  by: 'owner',
  address: (ids) => {
    const address = `${ids.acme}/${rest(ids)}`;
    return `${address}${address.includes('?') ? '&' : '?'}app=${ids.application.id}`;
  },
  ...more,
});
const record = (
  name: 'payment' | 'customer' | 'transfer' | 'refund' | 'dispute' | 'webhook' | 'event' | 'request',
) => inside(`${name}s/$id`, (ids) => `${name}s/${ids[name].id}`);

/** Every page of the console, some of them several times. */
export const visits: readonly Visit[] = [
  { route: 'sign-in', by: 'nobody', address: () => 'sign-in' },
  { route: 'sign-up', by: 'nobody', address: () => 'sign-up' },
  { route: 'invitation/$token', by: 'nobody', address: (ids) => `invitation/${ids.invitationToken}` },
  {
    route: 'invitation/$token',
    by: 'nobody',
    address: () => 'invitation/of_somebody_else_entirely',
    of: 'that is not there',
  },
  {
    route: 'invitation/$token',
    by: 'owner',
    address: (ids) => `invitation/${ids.invitationToken}`,
    of: 'for who has signed in',
  },
  { route: 'reset/$token', by: 'nobody', address: (ids) => `reset/${ids.resetToken}` },
  { route: '/', by: 'owner', address: () => '' },
  { route: 'welcome', by: 'owner', address: () => 'welcome?new=1' },
  { route: 'account', by: 'owner', address: () => 'account' },
  { route: '$orgId', by: 'owner', address: ({ acme }) => acme },
  { route: '$orgId', by: 'owner', address: ({ newcomers }) => newcomers, of: 'in which nothing happened' },
  { route: '$orgId', by: 'owner', address: ({ unbuilt }) => unbuilt, of: 'without an application' },
  {
    route: '$orgId',
    by: 'owner',
    address: () => 'org_00000000000000000000000000',
    of: 'of somebody else',
  },
  inside('start'),
  inside('payments'),
  inside('payments', () => 'payments?q=order-', { of: 'found by a search' }),
  record('payment'),
  inside('payments/$id', (ids) => `payments/${ids.wordyPayment.id}`, {
    of: 'with a long word',
  }),
  inside('payments/$id', () => 'payments/pay_00000000000000000000000000', { of: 'that is not there' }),
  inside('customers'),
  record('customer'),
  inside('transfers'),
  record('transfer'),
  inside('refunds'),
  record('refund'),
  inside('disputes'),
  record('dispute'),
  inside('ledger', undefined, {}),
  inside('ledger', () => 'ledger?tab=entries', { of: 'with its entries' }),
  inside('reconciliation'),
  inside('reconciliation', () => 'reconciliation?tab=lines', { of: 'with all lines' }),
  inside('reconciliation', () => 'reconciliation?tab=reports', { of: 'with the reports' }),
  inside('webhooks'),
  record('webhook'),
  inside('deliveries/$id', (ids) => `deliveries/${ids.delivery.id}`),
  inside('events'),
  record('event'),
  inside('requests'),
  inside('requests', () => 'requests?tab=errors', { of: 'with the errors' }),
  record('request'),
  inside('faults'),
  inside('coverage'),
  inside('coverage', () => 'coverage?tab=move&resource=payment&show=gaps', {
    of: 'with the gaps of one resource',
  }),
  inside('audit'),
  inside('keys'),
  inside('keys', () => 'keys?revoked=1', { of: 'with those that were revoked' }),
  inside('applications'),
  inside('applications/$id', (ids) => `applications/${ids.application.id}`),
  inside('members'),
  inside('organization'),
  inside('*', () => 'no/such/page', {
    of: 'that does not exist',
  }),
];

export const titleOf = ({ route, of }: Visit) => (of === undefined ? route : `${route} ${of}`);

/** Ids that only the console knows, asked for as its own pages do. */
export async function gather(
  { page }: Watched,
  { caller: _caller, close: _close, ...rest }: World,
): Promise<Ids> {
  await page.goto('/console/');
  await untilLoaded(page);
  type Row = { id: string; name: string; email: string; url: string };
  const ask = async (path: string, body?: object) => {
    const headers = `{ 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() }`;
    const init =
      body === undefined ? '{}' : `{ method: 'POST', headers: ${headers}, body: '${JSON.stringify(body)}' }`;
    const answer = await page.evaluate(
      `fetch('/console/api/${path}', ${init}).then((answer) => answer.json())`,
    );
    return answer as { data: Row[]; organizations: Row[]; url: string };
  };
  const { organizations } = await ask('session');
  const idOf = (rows: readonly Row[], name: string) => rows.find((row) => row.name === name)?.id ?? '';
  const acme = idOf(organizations, 'Acme');
  const applications = await ask(`${acme}/applications`);
  const application = { id: idOf(applications.data, 'Web shop') };
  const { data: requests } = await ask(
    `${acme}/${application.id}/developer_api_requests?method=POST&limit=1`,
  );
  const members = await ask(`${acme}/members`);
  const member = members.data.find(({ email }) => email === viewer.email);
  const invitation = await ask(`${acme}/invitations`, { role: 'developer' });
  const reset = await ask(`${acme}/members/${member?.id}/reset_link`, {});
  const tokenOf = ({ url }: { url: string }) => url.split('/').at(-1) ?? '';
  return {
    ...rest,
    acme,
    newcomers: idOf(organizations, 'Newcomers'),
    unbuilt: idOf(organizations, 'Unbuilt'),
    application,
    request: { id: requests[0]?.id ?? '' },
    invitationToken: tokenOf(invitation),
    resetToken: tokenOf(reset),
  };
}
