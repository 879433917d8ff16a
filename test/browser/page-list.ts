import type { Body } from './api.ts';
import type { ConsoleApi } from './console.ts';
import { type SampleData, viewer } from './sample-data.ts';

/** Ids that the addresses below contain. */
export interface Ids extends Omit<SampleData, 'close'> {
  readonly acme: string;
  /** The organization without records. */
  readonly newcomers: string;
  /** The organization without an application. */
  readonly unbuilt: string;
  readonly request: { readonly id: string };
  readonly inbox: { readonly id: string };
  readonly application: { readonly id: string };
  readonly invitationToken: string;
  readonly resetToken: string;
}

export interface ConsolePage {
  /** The path in console/frame/router.tsx. */
  readonly route: string;
  readonly by: 'owner' | 'nobody';
  readonly address: (ids: Ids) => string;
  /** Distinguishes several visits of one route. */
  readonly variant?: string;
}

const inside = (route: string, rest: (ids: Ids) => string = () => route, variant?: string): ConsolePage => ({
  route,
  by: 'owner',
  address: (ids) => {
    const address = `${ids.acme}/${rest(ids)}`;
    return `${address}${address.includes('?') ? '&' : '?'}app=${ids.application.id}`;
  },
  ...(variant === undefined ? {} : { variant }),
});
const record = (
  name: 'payment' | 'customer' | 'transfer' | 'refund' | 'dispute' | 'webhook' | 'event' | 'request',
) => inside(`${name}s/$id`, (ids) => `${name}s/${ids[name].id}`);

/** Every page of the console, some of them in several variants. */
export const pages: readonly ConsolePage[] = [
  { route: 'sign-in', by: 'nobody', address: () => 'sign-in' },
  { route: 'sign-up', by: 'nobody', address: () => 'sign-up' },
  { route: 'invitation/$token', by: 'nobody', address: (ids) => `invitation/${ids.invitationToken}` },
  {
    route: 'invitation/$token',
    by: 'nobody',
    address: () => 'invitation/unknown_token',
    variant: 'unknown',
  },
  {
    route: 'invitation/$token',
    by: 'owner',
    address: (ids) => `invitation/${ids.invitationToken}`,
    variant: 'signed in',
  },
  { route: 'reset/$token', by: 'nobody', address: (ids) => `reset/${ids.resetToken}` },
  { route: '/', by: 'owner', address: () => '' },
  { route: 'welcome', by: 'owner', address: () => 'welcome?new=1' },
  { route: 'account', by: 'owner', address: () => 'account' },
  { route: '$orgId', by: 'owner', address: ({ acme }) => acme },
  { route: '$orgId', by: 'owner', address: ({ newcomers }) => newcomers, variant: 'without records' },
  { route: '$orgId', by: 'owner', address: ({ unbuilt }) => unbuilt, variant: 'without an application' },
  {
    route: '$orgId',
    by: 'owner',
    address: () => 'org_00000000000000000000000000',
    variant: 'of another person',
  },
  inside('start'),
  inside('payments'),
  inside('payments', () => 'payments?q=order-', 'search results'),
  record('payment'),
  inside('payments/$id', (ids) => `payments/${ids.longWordPayment.id}`, 'with a long word'),
  inside('payments/$id', () => 'payments/pay_00000000000000000000000000', 'unknown'),
  inside('customers'),
  record('customer'),
  inside('transfers'),
  record('transfer'),
  inside('refunds'),
  record('refund'),
  inside('disputes'),
  record('dispute'),
  inside('ledger'),
  inside('ledger', () => 'ledger?tab=entries', 'entries'),
  inside('reconciliation'),
  inside('reconciliation', () => 'reconciliation?tab=lines', 'all lines'),
  inside('reconciliation', () => 'reconciliation?tab=reports', 'reports'),
  inside('webhooks'),
  record('webhook'),
  inside('webhooks/$id/inbox', (ids) => `webhooks/${ids.inbox.id}/inbox`),
  inside('deliveries/$id', (ids) => `deliveries/${ids.delivery.id}`),
  inside('events'),
  record('event'),
  inside('requests'),
  inside('requests', () => 'requests?tab=errors', 'errors'),
  record('request'),
  inside('faults'),
  inside('coverage'),
  inside('coverage', () => 'coverage?tab=move&resource=payment&show=gaps', 'gaps of one resource'),
  inside('audit'),
  inside('keys'),
  inside('keys', () => 'keys?revoked=1', 'with revoked keys'),
  inside('applications'),
  inside('applications/$id', (ids) => `applications/${ids.application.id}`),
  inside('members'),
  inside('organization'),
  inside('*', () => 'no/such/page', 'unknown path'),
];

export const titleOf = ({ route, variant }: ConsolePage) =>
  variant === undefined ? route : `${route} (${variant})`;

/** Reads the ids that only the console's API returns, and creates an invitation and a reset link. */
export async function readIds(owner: ConsoleApi, { close: _close, ...data }: SampleData): Promise<Ids> {
  type Row = { readonly id: string; readonly name: string; readonly email: string };
  const rows = async (path: string) => (await owner.get(path)).data as unknown as readonly Row[];
  const organizations = (await owner.get('session')).organizations as readonly Row[];
  const idOf = (all: readonly Row[], name: string) => all.find((row) => row.name === name)?.id ?? '';
  const acme = idOf(organizations, 'Acme');
  const application = { id: idOf(await rows(`${acme}/applications`), 'Web shop') };
  const [request] = await rows(`${acme}/${application.id}/developer_api_requests?method=POST&limit=1`);
  const inbox = await owner.post(`${acme}/${application.id}/developer_api_webhook_inbox`, {});
  const member = (await rows(`${acme}/members`)).find(({ email }) => email === viewer.email);
  const invitation = await owner.post(`${acme}/invitations`, { role: 'developer' });
  const reset = await owner.post(`${acme}/members/${member?.id}/reset_link`);
  const tokenOf = ({ url }: Body) => String(url).split('/').at(-1) ?? '';
  return {
    ...data,
    acme,
    newcomers: idOf(organizations, 'Newcomers'),
    unbuilt: idOf(organizations, 'Unbuilt'),
    application,
    request: { id: request?.id ?? '' },
    inbox: { id: inbox.id },
    invitationToken: tokenOf(invitation),
    resetToken: tokenOf(reset),
  };
}
