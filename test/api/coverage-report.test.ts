import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { openPglite } from '../../src/db/pglite.ts';
import { CoverageJournal } from '../../src/engine/coverage-journal.ts';
import { type CoverageReport, coverageOf, junitOf } from '../../src/resources/coverage/api.ts';
import { coverageUniverse } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { Coverage } from '../../src/workers/coverage.ts';
import { ApiClient } from '../support/api-client.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { openReceiver } from '../support/receiver.ts';
import { databaseKinds, openApp, openServer, sharedServer } from '../support/server.ts';
import { type KeyHolder, type Tenant, tenant } from '../support/tenant.ts';
import { auditOf, createApplication, createOrganization, newPerson, ok } from '../support/visitor.ts';

const coverage = 'developer_api_coverage';
const payments = 'developer_api_payments';
const small = { amount: 1_000, currency: 'EUR' };

/** Counts of the covered items, by `kind name`. */
type Counts = Readonly<Record<string, number>>;

function countsIn({ sections }: Pick<CoverageReport, 'sections'>): Counts {
  return Object.fromEntries(
    sections.flatMap(({ kind, items }) =>
      items.filter(({ count }) => count > 0).map(({ name, count }) => [`${kind} ${name}`, count]),
    ),
  );
}

async function report({ client }: Pick<KeyHolder, 'client'>, query = ''): Promise<CoverageReport> {
  const { status, body, text } = await client.get(coverage, query);
  expect(status, text).toBe(200);
  return body as unknown as CoverageReport;
}

/** Without the request that reads the report. */
async function counts(holder: Pick<KeyHolder, 'client'>): Promise<Counts> {
  const { 'operation getCoverage': _ownReads, ...rest } = countsIn(await report(holder));
  return rest;
}

describe.each(databaseKinds)('coverage on %s', (kind) => {
  let server: Server;
  let acme: Tenant;

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await tenant(server);
  });

  describe('the coverable items', () => {
    const namesOf = async (kindOf: string) => {
      const { sections } = await report(acme);
      return sections.find((one) => one.kind === kindOf)?.items.map(({ name }) => name) ?? [];
    };
    interface StateMachinesBody {
      readonly machines: readonly {
        readonly resource: string;
        readonly states: readonly string[];
        readonly events: readonly string[];
        readonly moves: readonly {
          readonly action: string;
          readonly from: readonly string[];
          readonly to: readonly string[];
          readonly stays: boolean;
        }[];
      }[];
    }
    let machines: StateMachinesBody['machines'];
    let document: {
      paths: Record<string, Record<string, { operationId: string }>>;
      webhooks: object;
      components: {
        schemas: { Error: { properties: { error: { properties: { code: { enum: string[] } } } } } };
      };
    };
    beforeAll(async () => {
      const shown = await acme.client.get('developer_api_state_machines');
      ({ machines } = shown.body as unknown as StateMachinesBody);
      document = JSON.parse((await server.app.inject('/openapi.json')).body);
    });

    test('are the states and transitions of the state machines, except those without a history row', async () => {
      const states = machines.flatMap(({ resource, states: machineStates }) =>
        machineStates.map((state) => `${resource}.${state}`),
      );
      expect(await namesOf('state')).toEqual(states);
      const moves = machines.flatMap(({ resource, moves: machineMoves }) =>
        machineMoves.flatMap(({ action, from, to, stays }) => {
          const startStates = from.length === 0 ? [''] : from.map((state) => `${state} `);
          return startStates.flatMap((start) =>
            (stays ? [start.trim()] : to).map((end) => `${resource}.${action}: ${start}-> ${end}`),
          );
        }),
      );
      const withoutHistory = ['webhook.test: enabled -> enabled', 'webhook.test: disabled -> disabled'];
      expect(moves).toEqual(expect.arrayContaining(withoutHistory));
      const wanted = moves.filter((move) => !withoutHistory.includes(move));
      expect((await namesOf('move')).toSorted()).toEqual([...new Set(wanted)].toSorted());
      expect(wanted).toEqual(
        expect.arrayContaining(['payment.create: -> pending', 'payment.capture: authorized -> captured']),
      );
    });

    test('are the events sent to webhooks', async () => {
      const events = await namesOf('event');
      expect(events).toEqual(Object.keys(document.webhooks));
      expect(events.toSorted()).toEqual(machines.flatMap((one) => one.events).toSorted());
    });

    test('are the operations of the OpenAPI document', async () => {
      const operations = Object.values(document.paths).flatMap((methods) =>
        Object.values(methods).map(({ operationId }) => operationId),
      );
      expect((await namesOf('operation')).toSorted()).toEqual(operations.toSorted());
    });

    test('are the errors that an authenticated request can get; the others occur before authentication', async () => {
      const codes = document.components.schemas.Error.properties.error.properties.code.enum;
      const errors = await namesOf('error');
      const early = codes.filter((code) => !errors.includes(code));
      expect(errors.filter((code) => !codes.includes(code))).toEqual([]);
      expect(early.toSorted()).toEqual([
        ...[
          'api_key_invalid',
          'api_key_missing',
          'host_not_allowed',
          'method_not_allowed',
          'route_not_found',
        ],
        // Of an inbox, where the signature is the authentication.
        'webhook_signature_invalid',
      ]);
      const org = await tenant(server);
      const anonymous = new ApiClient(server.app, null);
      expect((await anonymous.get(payments)).code).toBe('api_key_missing');
      const elsewhere = { method: 'GET', headers: { host: 'elsewhere.test' } } as const;
      expect((await org.client.send(payments, elsewhere)).code).toBe('host_not_allowed');
      expect((await new ApiClient(server.app, 'sbk').get(payments)).code).toBe('api_key_invalid');
      expect((await org.client.get('nowhere')).code).toBe('route_not_found');
      expect((await org.client.send(payments, { method: 'PUT' })).code).toBe('method_not_allowed');
      expect(await counts(org)).toEqual({});
    });

    test('add up in the summary, and start at zero', async () => {
      const org = await tenant(server);
      const { summary, sections } = await report(org);
      expect(sections.map((one) => one.kind)).toEqual(['state', 'move', 'event', 'operation', 'error']);
      expect(summary).toEqual({ met: 0, total: coverageUniverse.length });
      for (const { items, total, met } of sections) expect([items.length, 0]).toEqual([total, met]);
      const next = await report(org);
      expect(next.summary.met).toBe(1);
      expect(countsIn(next)).toEqual({ 'operation getCoverage': 1 });
    });
  });

  describe('the covered items', () => {
    test('are counted exactly, once per occurrence', async () => {
      const org = await tenant(server);
      const created = [await org.client.post(payments, small), await org.client.post(payments, small)];
      const id = created[0]?.body.id;
      await org.client.post(`${payments}/${id}/advance`, { action: 'authorize' });
      await org.client.post(`${payments}/${id}/advance`, { action: 'capture' });
      await org.client.get(`${payments}/${id}`);
      await org.client.send(`${payments}/${id}`, { method: 'HEAD' });
      expect(await counts(org)).toEqual({
        'state payment.pending': 2,
        'state payment.authorized': 1,
        'state payment.captured': 1,
        'move payment.create: -> pending': 2,
        'move payment.authorize: pending -> authorized': 1,
        'move payment.capture: authorized -> captured': 1,
        'event payment.created': 2,
        'event payment.authorized': 1,
        'event payment.captured': 1,
        'operation createPayment': 2,
        'operation advancePayment': 2,
        'operation retrievePayment': 2,
      });
    });

    test('include transitions triggered by other records, and every step on the way to a state', async () => {
      const org = await tenant(server);
      const body = { ...small, scenario: 'refund_pending' };
      const { id } = (await org.client.post(payments, body)).body;
      await org.client.post(`${payments}/${id}/advance`, { to: 'settled' });
      const refund = (await org.client.post(`${payments}/${id}/refund`, { amount: 400 })).body;
      await org.client.post(`developer_api_refunds/${refund.id}/advance`, { action: 'succeed' });
      expect(await counts(org)).toMatchObject({
        'move payment.capture: pending -> captured': 1,
        'move payment.settle: captured -> settled': 1,
        'move payment.refund_pending: settled -> settled': 1,
        'move payment.refund_succeeded: settled -> partially_refunded': 1,
        'move refund.create: -> pending': 1,
        'move refund.succeed: pending -> succeeded': 1,
        'state refund.succeeded': 1,
        'event refund.succeeded': 1,
      });
    });

    test('include effects of the clock', async () => {
      const org = await tenant(server);
      const { id } = (await org.client.post(payments, { ...small, captureMethod: 'manual' })).body;
      await org.client.post(`${payments}/${id}/advance`, { action: 'authorize' });
      await org.client.post('developer_api_clock/advance', { seconds: 8 * 86_400 });
      expect(await counts(org)).toMatchObject({
        'state payment.expired': 1,
        'move payment.expire: authorized -> expired': 1,
        'event payment.expired': 1,
        'operation advanceClock': 1,
      });
    });

    test('include events sent to a single endpoint and events triggered through the API', async () => {
      const org = await tenant(server);
      const receiver = await openReceiver();
      const webhook = (await org.client.post('developer_api_webhooks', { url: receiver.url })).body;
      await org.client.post(`developer_api_webhooks/${webhook.id}/test`);
      await org.client.post('developer_api_webhook_events', { type: 'transfer.completed' });
      await receiver.close();
      expect(await counts(org)).toEqual({
        'state webhook.enabled': 1,
        'move webhook.create: -> enabled': 1,
        'event webhook.tested': 1,
        'event transfer.completed': 1,
        'operation createWebhook': 1,
        'operation testWebhook': 1,
        'operation createWebhookEvent': 1,
      });
    });

    test('include states and events caused by people, but not their requests', async () => {
      const owner = await newPerson(server, 'Olga');
      const orgId = await createOrganization(owner, `House ${randomUUID()}`);
      const place = `${orgId}/${await createApplication(owner, orgId)}`;
      ok(await owner.post(`${place}/${payments}`, small));
      expect((await owner.post(`${place}/${payments}`, {})).code).toBe('invalid_request');
      const shown = ok(await owner.get(`${place}/${coverage}`)) as unknown as CoverageReport;
      expect(countsIn(shown)).toEqual({
        'state payment.pending': 1,
        'move payment.create: -> pending': 1,
        'event payment.created': 1,
      });
    });

    test('include the error instead of the operation for each rejection, and nothing for a replayed rejection', async () => {
      const org = await tenant(server);
      const scopeless = await org.addKey({ scopes: [] });
      const revoked = await org.addKey({ revoked: true });
      const { client } = org;
      await scopeless.client.get(payments);
      await revoked.client.get(payments);
      await client.get(payments, 'limit=0');
      await client.get(`${payments}/nobody`);
      await client.post(payments, undefined, { raw: '{' });
      const idempotencyKey = randomUUID();
      for (const _time of [1, 2])
        await client.post(payments, { ...small, currency: 'XXX' }, { idempotencyKey });
      expect(await counts(org)).toEqual({
        'error scope_missing': 1,
        'error api_key_revoked': 1,
        'error invalid_request': 1,
        'error resource_not_found': 1,
        'error malformed_json': 1,
        'error unsupported_currency': 1,
      });
    });

    test('belong to the organization: all of its keys see the same, and no other organization does', async () => {
      const org = await tenant(server);
      const other = await org.addKey({ application: 'other', scopes: [] });
      const otherOrg = await tenant(server);
      await org.client.post(payments, small);
      expect(await counts(other)).toMatchObject({ 'state payment.pending': 1, 'operation createPayment': 1 });
      expect(await counts(otherOrg)).toEqual({});
    });
  });

  test('can be filtered by kind, by resource and by both', async () => {
    const org = await tenant(server);
    await org.client.post(payments, small);
    await org.client.post('developer_api_customers', { name: 'Ada' });
    const events = await report(org, 'kind=event');
    expect(events.sections.map((one) => one.kind)).toEqual(['event']);
    expect(countsIn(events)).toEqual({ 'event payment.created': 1, 'event customer.created': 1 });
    const payment = await report(org, 'resource=payment');
    expect(payment.sections.map((one) => one.kind)).toEqual(['state', 'move', 'event', 'operation']);
    for (const { kind: sectionKind, items } of payment.sections)
      for (const { name } of items)
        expect(name, sectionKind).toMatch(sectionKind === 'operation' ? /Payment/ : /^payment\./);
    expect(payment.summary.met).toBe(4);
    const both = await report(org, 'kind=state&resource=customer');
    expect(both.sections).toEqual([
      {
        kind: 'state',
        met: 1,
        total: 2,
        items: [
          { name: 'customer.active', count: 1 },
          { name: 'customer.archived', count: 0 },
        ],
      },
    ]);
    expect(await report(org, 'kind=error&resource=payment')).toMatchObject({ sections: [] });
    for (const query of ['kind=x', 'resource=clock', 'kind=', 'limit=1'])
      expect((await org.client.get(coverage, query)).code, query).toBe('invalid_request');
  });

  test('as JUnit XML: one suite per kind, one case per item, and items not covered are skipped', async () => {
    const org = await tenant(server);
    await org.client.post(payments, small);
    const shown = await report(org, 'resource=payment');
    const response = await server.app.inject({
      url: `/_api/${coverage}?resource=payment`,
      headers: { authorization: `Bearer ${org.key}`, accept: 'application/xml' },
    });
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe('application/xml; charset=utf-8');
    expect(response.headers['request-id']).toMatch(/^req_/);
    const elements = elementsOf(response.body);
    const suites = elements.filter(({ name }) => name === 'testsuite');
    expect(suites.map(({ attributes }) => attributes)).toEqual(
      shown.sections.map(({ kind: name, total, met }) => ({
        ...{ name, tests: String(total), failures: '0', errors: '0', time: '0' },
        skipped: String(total - met),
      })),
    );
    expect(elements[0]).toMatchObject({
      name: 'testsuites',
      attributes: { tests: String(shown.summary.total) },
    });
    const cases = elements.filter(({ name }) => name === 'testcase');
    expect(cases.map(({ attributes }) => attributes.name)).toEqual(
      shown.sections.flatMap(({ items }) => items.map(({ name }) => name)),
    );
    const skippedNames = elements.filter(({ name }) => name === 'skipped').map(({ within }) => within);
    const items = shown.sections.flatMap((section) => section.items);
    expect(skippedNames).toEqual(items.filter(({ count }) => count === 0).map(({ name }) => name));
    expect(skippedNames).toHaveLength(shown.summary.total - shown.summary.met);
  });

  describe('reset', () => {
    const reset = (holder: KeyHolder, idempotencyKey: string = randomUUID()) =>
      holder.client.post(`${coverage}/reset`, undefined, { idempotencyKey });

    test('clears the counts of this organization only, and is in the audit log', async () => {
      const [org, other] = [await tenant(server), await tenant(server)];
      for (const holder of [org, other]) await holder.client.post(payments, small);
      await counts(org);
      const answer = await reset(org);
      expect(answer.body).toMatchObject({ object: 'coverage_reset', status: 'ok' });
      expect(await counts(org)).toEqual({ 'operation resetCoverage': 1 });
      expect(await counts(other)).toMatchObject({ 'state payment.pending': 1 });
      expect(await auditOf(server, answer)).toEqual([
        expect.objectContaining({ action: 'coverage.reset', outcome: 'accepted', resourceId: org.orgId }),
      ]);
      expect((await org.client.get(payments)).body.data).toHaveLength(1);
    });

    test('the same request again resets nothing', async () => {
      const org = await tenant(server);
      const key = randomUUID();
      await reset(org, key);
      await org.client.post(payments, small);
      const again = await reset(org, key);
      expect(again.headers['idempotent-replayed']).toBe('true');
      expect(await counts(org)).toMatchObject({ 'state payment.pending': 1, 'operation resetCoverage': 2 });
    });
  });

  test('survives a restart', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'sandbank-coverage-'));
    const settings =
      kind === 'pglite'
        ? { dataDirectory: folder }
        : { databaseUrl: await migratedDatabase(inject('postgresUrl')), secret: 's'.repeat(32) };
    const before = await openServer(kind, settings);
    const org = await tenant(before);
    await org.client.post(payments, small);
    await org.client.get(`${payments}/nobody`);
    await before.close();
    const after = await openServer(kind, settings);
    const client = org.clientOn(after.app);
    await client.post(payments, small);
    expect(await counts({ client })).toEqual({
      'state payment.pending': 2,
      'move payment.create: -> pending': 2,
      'event payment.created': 2,
      'operation createPayment': 2,
      'error resource_not_found': 1,
    });
    await after.close();
    await rm(folder, { recursive: true, force: true });
  });

  test('counts of several organizations add up', async () => {
    const [one, two] = [await tenant(server), await tenant(server)];
    for (const { client } of [one, one, two]) await client.post(payments, small);
    await server.coverage.flush();
    const countsOf = async (...orgIds: string[]) =>
      countsIn(await coverageOf(server.reader, orgIds, coverageUniverse));
    expect(await countsOf(one.orgId)).toMatchObject({ 'state payment.pending': 2 });
    expect(await countsOf(one.orgId, two.orgId)).toMatchObject({
      'state payment.pending': 3,
      'operation createPayment': 3,
    });
    expect(await countsOf()).toEqual({});
    const all = countsIn(await coverageOf(server.reader, 'all', coverageUniverse, { kind: 'state' }));
    expect(all['state payment.pending']).toBeGreaterThanOrEqual(3);
    expect(Object.keys(all).every((name) => name.startsWith('state '))).toBe(true);
  });

  test('a database failure loses counts, but fails no request', async () => {
    const gone = await openPglite({ dataDirectory: undefined, onCrash: () => undefined });
    await gone.close();
    const problems: string[] = [];
    const counter = new Coverage({
      universe: coverageUniverse,
      journal: new CoverageJournal(gone),
      onError: (_error, what) => problems.push(what),
    });
    const app = openApp(server, { coverage: counter });
    for (const _time of [1, 2]) {
      expect((await acme.clientOn(app).get(payments)).status).toBe(200);
      await counter.flush();
    }
    expect(problems).toEqual(['coverage cannot be written']);
    await counter.close();
    await app.close();
  });
});

test('counts of several nodes add up', async () => {
  const databaseUrl = await migratedDatabase(inject('postgresUrl'));
  const secret = 's'.repeat(32);
  const nodes = await Promise.all([1, 2].map(() => openServer('postgres', { databaseUrl, secret })));
  const [one, two] = nodes as [Server, Server];
  const org = await tenant(one);
  const there = org.clientOn(two.app);
  for (let round = 0; round < 5; round += 1) {
    await Promise.all([org.client, there, there].map((client) => client.post(payments, small)));
    // Both nodes write the same rows at the same time.
    await Promise.all(nodes.map(({ coverage: counter }) => counter.flush()));
  }
  expect(await counts(org)).toEqual({
    'state payment.pending': 15,
    'move payment.create: -> pending': 15,
    'event payment.created': 15,
    'operation createPayment': 15,
  });
  await Promise.all(nodes.map((node) => node.close()));
});

test('special characters in a name are escaped in the XML', () => {
  const name = `<a href="x">&'b'</a>`;
  const written = junitOf({
    summary: { met: 0, total: 1 },
    sections: [{ kind: 'state', met: 0, total: 1, items: [{ name, count: 0 }] }],
  });
  const [found] = elementsOf(written).filter((one) => one.name === 'testcase');
  expect(found?.attributes.name).toBe(name);
});

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The `name` of the enclosing element. */
  readonly within: string | undefined;
}

/** A small strict XML parser: only elements with attributes, each closed by its own end tag. */
function elementsOf(xml: string): readonly Element[] {
  const head = '<?xml version="1.0" encoding="UTF-8"?>\n';
  expect(xml.startsWith(head)).toBe(true);
  const found: Element[] = [];
  const open: Element[] = [];
  const tag = /\s*<(\/?)([a-z]+)((?: [a-z]+="[^"<]*")*)(\/?)>\s*/y;
  tag.lastIndex = head.length;
  while (tag.lastIndex < xml.length) {
    const at = tag.lastIndex;
    const [whole, isEnd, name = '', written = '', isEmpty] = tag.exec(xml) ?? [];
    if (whole === undefined) throw new Error(`no tag at ${xml.slice(at, at + 80)}`);
    if (isEnd) {
      expect(open.pop()?.name).toBe(name);
      continue;
    }
    const attributes = Object.fromEntries(
      [...written.matchAll(/([a-z]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, plainText(value)]),
    );
    const element = { name, attributes, within: open.at(-1)?.attributes.name };
    found.push(element);
    if (!isEmpty) open.push(element);
  }
  expect(open).toEqual([]);
  return found;
}

function plainText(value: string): string {
  expect(value).not.toMatch(/&(?!#\d+;)/);
  return value.replace(/&#(\d+);/g, (_whole, code: string) => String.fromCharCode(Number(code)));
}
