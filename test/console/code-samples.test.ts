import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiRequest, postRequest, readRequest } from '../../console/client/request.ts';
import { sampleOf } from '../../console/code/samples.ts';
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
}

/** One request for each kind of action of the console, and some reads. */
const steps: readonly (readonly [label: string, request: (ids: Records) => ApiRequest])[] = [
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
  ['disable a webhook', ({ webhook }) => postRequest(`developer_api_webhooks/${webhook}/disable`, {})],
  ['delete a webhook', ({ webhook }) => postRequest(`developer_api_webhooks/${webhook}/delete`, {})],
  ['freeze the clock', () => postRequest('developer_api_clock/freeze', {})],
  ['reset the clock', () => postRequest('developer_api_clock/reset', {})],
  [
    'create a fault plan',
    () =>
      postRequest('developer_api_fault_plans', {
        on: 'requests',
        fault: { type: 'latency', delayMs: 1 },
        operations: ['listFxRates'],
        count: 2,
      }),
  ],
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
    const { key } = await post('api_keys', { name: 'samples', scopes: [...scopes] });
    const payment = await post('developer_api_payments', { amount: 1000, currency: 'EUR' });
    const captured = await post('developer_api_payments', { amount: 2000, currency: 'EUR' });
    await post(`developer_api_payments/${captured.id}/advance`, { to: 'captured' });
    const customer = await post('developer_api_customers', { name: 'Ada', phone: '123' });
    const webhook = await post('developer_api_webhooks', { url: 'http://127.0.0.1:9/hook' });
    const ids = {
      payment: String(payment.id),
      captured: String(captured.id),
      customer: String(customer.id),
      webhook: String(webhook.id),
    };
    return new World(team, String(key), ids);
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

function outcome(request: string, query: string, body: unknown, status: unknown, response: string): Outcome {
  return {
    request: neutral(request),
    query: [...new URLSearchParams(query)],
    // An empty body and `{}` have the same meaning.
    body: JSON.parse(neutral(String(body || '{}'))),
    status,
    response: JSON.parse(neutral(response)),
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
    const samples = steps.map(([, request]) => sampleOf(language, request(world.ids), url) ?? '');
    const [program = '', ...args] = await programs[language](samples);
    const env = { PATH: process.env.PATH ?? '', SANDBANK_API_KEY: world.key };
    await run(program, args, { env });
    const logged = await world.logged();
    expect(logged).toHaveLength(steps.length);
    for (const [index, [label]] of steps.entries()) expect(logged[index], label).toEqual(expected[index]);
  });

  test('in TypeScript are accepted by the compiler', async () => {
    const ids = { payment: 'pay_1', captured: 'pay_2', customer: 'cus_1', webhook: 'whk_1' };
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
