import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiRequest, postRequest, readRequest } from '../../console/client/request.ts';
import type { NamedRequest } from '../../console/code/named-request.ts';
import { sampleOf } from '../../console/code/samples.ts';
import { inboxRequests } from '../../console/pages/inbox/requests.ts';
import {
  advanceClock,
  createDeclinedPayment,
  createPayment,
  createWebhook,
  settlePayment,
} from '../../console/pages/start/requests.ts';
import { webhookRequests } from '../../console/pages/webhooks/requests.ts';
import { scopes } from '../../src/kernel/permissions.ts';
import type { Server } from '../../src/server.ts';
import type { Body } from '../support/api-client.ts';
import { sharedServer } from '../support/server.ts';
import { createTeam, ok, type Team } from '../support/visitor.ts';

const run = promisify(execFile);
const client = fileURLToPath(new URL('../../sdk/client.ts', import.meta.url));
const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));

/** Everything that has a meaning in a shell, in TypeScript or in Python. */
const nasty = `it's "quoted" \\ $HOME \`id\` {} \${x} %s\nnext line, é 漢 😀`;

interface Records {
  readonly payment: string;
  readonly captured: string;
  readonly customer: string;
  readonly webhook: string;
  readonly authorized: string;
  readonly settled: string;
  readonly dispute: string;
  readonly event: string;
  readonly faultPlan: string;
  readonly inbox: string;
}

type Step = readonly [label: string, request: (ids: Records) => ApiRequest];

/** A fault that no request of these tests meets. */
const fault = {
  on: 'requests',
  fault: { type: 'latency', delayMs: 1 },
  operations: ['listFxRates'],
  count: 2,
};

/** The writes that a page lists. Reversed, because the last behavior of the inbox is to succeed. */
function listed(name: keyof Records, requests: (id: string) => readonly NamedRequest[]): readonly Step[] {
  const writes = (id: string) => requests(id).filter(({ request }) => request.method === 'POST');
  return writes('')
    .map(
      ({ label }, index): Step => [
        label,
        (ids) => writes(ids[name])[index]?.request ?? readRequest('missing'),
      ],
    )
    .toReversed();
}

/** One request for each kind of action of the console, and some reads. */
const steps: readonly Step[] = [
  [
    'create a payment',
    () =>
      postRequest('developer_api_payments', {
        amount: 1250,
        currency: 'EUR',
        paymentMethod: { type: 'card' },
        scenario: ['decline:expired_card', 'approve'],
        autoAdvance: false,
        description: nasty,
        metadata: { "key '": nasty, order: '1' },
      }),
  ],
  ['create a customer', () => postRequest('developer_api_customers', { name: nasty, email: 'a@b.test' })],
  [
    'create a transfer',
    () =>
      postRequest('developer_api_transfers', {
        sourceCurrency: 'EUR',
        targetCurrency: 'USD',
        sourceAmount: 5000,
        beneficiary: { name: "O'Neill" },
      }),
  ],
  [
    'create a webhook',
    () =>
      postRequest('developer_api_webhooks', { url: 'http://127.0.0.1:9/hook', eventTypes: ['payment.*'] }),
  ],
  [
    'create an event',
    () => postRequest('developer_api_webhook_events', { type: 'payment.captured', data: { a: [1, null] } }),
  ],
  ['advance by the scenario', ({ payment }) => postRequest(`developer_api_payments/${payment}/advance`, {})],
  [
    'advance to a state',
    ({ payment }) => postRequest(`developer_api_payments/${payment}/advance`, { to: 'settled' }),
  ],
  [
    'refund',
    ({ captured }) => ({
      ...postRequest(`developer_api_payments/${captured}/refund`, { amount: 250, reason: nasty }),
      query: 'expand=ledgerEntries',
    }),
  ],
  [
    'advance by an action',
    ({ captured }) => postRequest(`developer_api_payments/${captured}/advance`, { action: 'dispute' }),
  ],
  ['list history', ({ captured }) => readRequest(`developer_api_payments/${captured}/history`, { limit: 2 })],
  [
    'list by a text',
    () => readRequest('developer_api_customers', { reference: `100% & 'more' "x"`, limit: 5 }),
  ],
  [
    'update a payment',
    ({ captured }) =>
      postRequest(`developer_api_payments/${captured}/update`, { description: null, metadata: { a: nasty } }),
  ],
  [
    'update a customer',
    ({ customer }) => postRequest(`developer_api_customers/${customer}/update`, { phone: null, name: 'Bo' }),
  ],
  ['archive a customer', ({ customer }) => postRequest(`developer_api_customers/${customer}/archive`, {})],
  ['start: create a payment', () => createPayment],
  ['start: create a webhook', () => createWebhook],
  ['start: create a payment that is declined', () => createDeclinedPayment],
  ['start: advance a payment', ({ settled }) => settlePayment(settled)],
  [
    'capture a part',
    ({ authorized }) =>
      postRequest(`developer_api_payments/${authorized}/advance`, { action: 'capture', amount: 300 }),
  ],
  [
    'submit evidence',
    ({ dispute }) =>
      postRequest(`developer_api_disputes/${dispute}/advance`, {
        action: 'submit_evidence',
        evidence: { receipt: nasty },
      }),
  ],
  [
    'replay an event',
    ({ event, webhook }) =>
      postRequest(`developer_api_webhook_events/${event}/replay`, { webhookId: webhook }),
  ],
  [
    'count the events to replay',
    ({ webhook }) =>
      postRequest('developer_api_webhook_deliveries/replay', {
        from: '2020-01-01T00:00:00.000Z',
        to: '2020-01-02T00:00:00.000Z',
        select: 'all',
        webhookId: webhook,
        dryRun: true,
      }),
  ],
  [
    'update a webhook',
    ({ webhook }) =>
      postRequest(`developer_api_webhooks/${webhook}/update`, { description: nasty, retryProfile: 'none' }),
  ],
  [
    'rotate a secret',
    ({ webhook }) => postRequest(`developer_api_webhooks/${webhook}/rotate_secret`, { overlapSeconds: 3600 }),
  ],
  [
    'examine a receiver',
    ({ webhook }) => postRequest(`developer_api_webhooks/${webhook}/examine`, { cases: ['valid_signature'] }),
  ],
  ['disable a webhook', ({ webhook }) => postRequest(`developer_api_webhooks/${webhook}/disable`, {})],
  ...listed('webhook', (id) => webhookRequests(id, 'disabled')),
  ...listed('inbox', (id) => inboxRequests(id, 'enabled', ['none', 'fast'])),
  ['delete the inbox', ({ inbox }) => postRequest(`developer_api_webhooks/${inbox}/delete`, {})],
  ['delete a webhook', ({ webhook }) => postRequest(`developer_api_webhooks/${webhook}/delete`, {})],
  ['start: advance the clock', () => advanceClock],
  ['freeze the clock', () => postRequest('developer_api_clock/freeze', {})],
  ['resume the clock', () => postRequest('developer_api_clock/resume', {})],
  ['reset the clock', () => postRequest('developer_api_clock/reset', {})],
  ['create a fault plan', () => postRequest('developer_api_fault_plans', fault)],
  ['end a fault plan', ({ faultPlan }) => postRequest(`developer_api_fault_plans/${faultPlan}/cancel`, {})],
  ['reset coverage', () => postRequest('developer_api_coverage/reset', {})],
];

interface Outcome {
  readonly request: string;
  readonly query: readonly (readonly [string, string])[];
  readonly body: unknown;
  readonly status: unknown;
  readonly response: unknown;
}

/** An organization with the same records as every other one. */
class World {
  readonly team: Team;
  readonly key: string;
  readonly ids: Records;

  constructor(team: Team, key: string, ids: Records) {
    this.team = team;
    this.key = key;
    this.ids = ids;
  }

  static async open(server: Server): Promise<World> {
    const team = await createTeam(server);
    const path = (rest: string) => `${team.orgId}/${team.appId}/${rest}`;
    const post = async (rest: string, body: unknown) => ok(await team.owner.post(path(rest), body)) as Body;
    const { key } = await post('api_keys', { name: 'samples', scopes: [...scopes], mayReset: true });
    const payment = await post('developer_api_payments', { amount: 1000, currency: 'EUR' });
    const captured = await post('developer_api_payments', { amount: 2000, currency: 'EUR' });
    await post(`developer_api_payments/${captured.id}/advance`, { to: 'captured' });
    const customer = await post('developer_api_customers', { name: 'Ada', phone: '123' });
    const settled = await post('developer_api_payments', { amount: 700, currency: 'EUR' });
    const authorized = await post('developer_api_payments', {
      ...{ amount: 500, currency: 'EUR', captureMethod: 'manual' },
    });
    await post(`developer_api_payments/${authorized.id}/advance`, { to: 'authorized' });
    const disputed = await post('developer_api_payments', { amount: 900, currency: 'EUR' });
    await post(`developer_api_payments/${disputed.id}/advance`, { to: 'captured' });
    await post(`developer_api_payments/${disputed.id}/advance`, { action: 'dispute' });
    const disputes = ok(await team.owner.get(path('developer_api_disputes'))).data as readonly Body[];
    const event = await post('developer_api_webhook_events', { type: 'payment.captured', data: {} });
    const webhook = await post('developer_api_webhooks', { url: 'http://127.0.0.1:9/hook' });
    const inbox = await post('developer_api_webhook_inbox', {});
    const faultPlan = await post('developer_api_fault_plans', fault);
    const records = { payment, captured, customer, settled, authorized, event, webhook, inbox, faultPlan };
    const ids = Object.entries({ ...records, dispute: disputes[0] }).map(([name, one]) => [name, one?.id]);
    return new World(team, String(key), Object.fromEntries(ids) as Records);
  }

  get path(): string {
    return `${this.team.orgId}/${this.team.appId}`;
  }

  /** As the console does. */
  async send({ method, path, query = '', body }: ApiRequest): Promise<Outcome> {
    const url = `${this.path}/${path}${query === '' ? '' : `?${query}`}`;
    const { owner } = this.team;
    const answer = method === 'GET' ? await owner.get(url) : await owner.post(url, JSON.parse(body ?? '{}'));
    expect(answer.status, answer.text).toBeLessThan(300);
    return outcome(`${method} ${path}`, query, body, answer.status, answer.text);
  }

  /** The requests with the API key, oldest first. */
  async logged(): Promise<readonly Outcome[]> {
    const { owner } = this.team;
    const listed = ok(await owner.get(`${this.path}/developer_api_requests?limit=100`));
    const ids = (listed.data as readonly Body[])
      .filter(({ actor }) => (actor as Body).kind === 'api_key')
      .map(({ id }) => id);
    const outcomes: Outcome[] = [];
    for (const id of ids.toReversed()) {
      const one = ok(await owner.get(`${this.path}/developer_api_requests/${id}`)) as Body;
      const request = `${one.method} ${String(one.path).replace('/_api/', '')}`;
      outcomes.push(
        outcome(request, String(one.query ?? ''), one.requestBody, one.httpStatus, String(one.responseBody)),
      );
    }
    return outcomes;
  }
}

/** Responses with what was sent and received over the network, with pending deliveries, or longer than the log stores. */
const isIncomparable = /(?:\/test|\/examine|clock\/advance|coverage\/reset)$/;

function outcome(request: string, query: string, body: unknown, status: unknown, response: string): Outcome {
  return {
    request: neutral(request),
    query: [...new URLSearchParams(query)],
    // An empty body and `{}` have the same meaning.
    body: JSON.parse(neutral(String(body || '{}'))),
    status,
    response: isIncomparable.test(request) ? null : JSON.parse(neutral(response)),
  };
}

/** Without what differs between organizations and callers: ids, instants, secrets and actors. */
function neutral(text: string): string {
  return text
    .replaceAll(/\b([a-z]{3})_[0-9a-z]{26}\b/g, '$1_x')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'instant')
    .replaceAll(/"(secret|secretHint|seed)":("[^"]*"|\d+)/g, '"$1":"x"')
    .replaceAll(/"actor":\{[^}]*\}/g, '"actor":"x"')
    .replaceAll(/"offsetSeconds":-?\d+/g, '"offsetSeconds":0');
}

const hasPython = await run('python3', ['--version']).then(
  () => true,
  () => false,
);

describe('code samples', () => {
  let server: Server;
  let url: string;
  let folder: string;
  const expected: Outcome[] = [];

  beforeAll(async () => {
    server = await sharedServer('pglite');
    url = await server.listen();
    folder = await mkdtemp(join(tmpdir(), 'sandbank-samples-'));
    const world = await World.open(server);
    for (const [, request] of steps) expected.push(await world.send(request(world.ids)));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** All samples in one process, in order. */
  const programs = {
    // Like a terminal: the first request that fails ends it.
    curl: async (samples: readonly string[]) => [
      'bash',
      '-c',
      ['set -e', ...samples.map((code) => code.replace('curl', 'curl -sSf'))].join('\n'),
    ],
    typescript: async (samples: readonly string[]) => {
      const main = join(folder, 'main.mts');
      for (const [index, code] of samples.entries())
        await writeFile(
          join(folder, `${index}.mts`),
          code.replace("'sandbank/client'", JSON.stringify(client)),
        );
      await writeFile(main, samples.map((_, index) => `await import('./${index}.mts');`).join('\n'));
      return [process.execPath, '--import', 'tsx', main];
    },
    python: async (samples: readonly string[]) => ['python3', '-c', samples.join('\n')],
  };

  test.each([
    ['curl', true],
    ['typescript', true],
    ['python', hasPython],
  ] as const)('in %s do the same as the console', async (language, isInstalled) => {
    if (!isInstalled) return;
    const world = await World.open(server);
    const execute = async (requests: readonly ApiRequest[]) => {
      const samples = requests.map((request) => sampleOf(language, request, url) ?? '');
      const [program = '', ...args] = await programs[language](samples);
      await run(program, args, { env: { PATH: process.env.PATH ?? '', SANDBANK_API_KEY: world.key } });
    };
    await execute(steps.map(([, request]) => request(world.ids)));
    const logged = await world.logged();
    expect(logged).toHaveLength(steps.length);
    for (const [index, [label]] of steps.entries()) expect(logged[index], label).toEqual(expected[index]);
    // A reset deletes the log, too.
    await execute([postRequest('developer_api_reset', {})]);
    expect(ok(await world.team.owner.get(`${world.path}/developer_api_payments`)).data).toEqual([]);
  });

  test('in TypeScript are accepted by the compiler', async () => {
    const { ids } = await World.open(server);
    const checked = join(folder, 'checked');
    await run('mkdir', [checked]);
    for (const [index, [, request]] of steps.entries())
      await writeFile(join(checked, `${index}.mts`), sampleOf('typescript', request(ids), url) ?? '');
    const compilerOptions = {
      ...{ target: 'es2022', lib: ['es2023', 'dom'], module: 'nodenext', strict: true, noEmit: true },
      ...{ allowImportingTsExtensions: true, skipLibCheck: true, types: [] },
      paths: { 'sandbank/client': [client] },
    };
    await writeFile(join(checked, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.mts'] }));
    const result = await run(process.execPath, [tsc, '-p', checked]).catch(({ stdout }) => ({ stdout }));
    expect(result.stdout).toBe('');
  });
});
