import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRateLimiter } from '../../src/http/rate-limit.ts';
import type { ApiReadRoute } from '../../src/kernel/route.ts';
import type { Statement } from '../../src/kernel/table.ts';
import { routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { openApp, openServer } from '../support/server.ts';
import { createTeam, newPerson, ok, type Person, type Team } from '../support/visitor.ts';

describe('limits for people', () => {
  let server: Server;
  let acme: Team;

  beforeAll(async () => {
    server = await openServer('postgres');
    acme = await createTeam(server);
  });
  afterAll(() => server?.close());

  test('a person who used up the burst is rejected until tokens refill; others are not affected', async () => {
    let now = 0;
    const app = openApp(server, { rateLimiter: createRateLimiter(2), uptime: () => now });
    const viewer = acme.viewer.at(app);
    const paths = [
      'session',
      `${acme.orgId}/members`,
      `${acme.orgId}/${acme.appId}/overview`,
      'session/devices',
    ];
    for (const path of paths) ok(await viewer.get(path));
    for (const path of [
      ...paths,
      `${acme.orgId}/audit/verification`,
      `${acme.orgId}/${acme.appId}/event_stream`,
    ]) {
      const refused = await viewer.get(path);
      expect([refused.status, refused.code], path).toEqual([429, 'rate_limited']);
      expect(refused.headers).toMatchObject({ 'retry-after': '1', 'ratelimit-policy': '"default";q=4;w=2' });
    }
    ok(await acme.owner.at(app).get('session'));
    now += 1_000;
    ok(await viewer.get('session'));
    await app.close();
  });

  test('concurrent verification requests for one organization share one run', async () => {
    const counts = new Map<string, number>();
    const rows = <Row>(statement: Statement, values: readonly unknown[]) => {
      counts.set(statement.name, (counts.get(statement.name) ?? 0) + 1);
      return server.reader.rows<Row>(statement, values);
    };
    const app = openApp(server, { reader: { ...server.reader, rows } });
    const viewer = acme.viewer.at(app);
    ok(await viewer.get(`${acme.orgId}/audit/verification`));
    const alone = counts.get('audit_seals_before') ?? 0;
    expect(alone).toBeGreaterThan(0);
    counts.clear();
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => viewer.get(`${acme.orgId}/audit/verification`)),
    );
    for (const answer of answers) expect(ok(answer).object).toBe('audit_verification');
    expect(counts.get('audit_seals_before')).toBeLessThan(alone * 10);
    await app.close();
  });

  test('a person owns at most fifty organizations, also with concurrent requests', async () => {
    const person: Person = await newPerson(server);
    await server.database.script(`insert into members (org_id, id, person_id, role, status, version, created_at, updated_at)
      select 'org_many' || n, '${person.memberId}', '${person.personId}', 'owner', 'active', 1, now(), now()
      from generate_series(1, 48) n`);
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, at) => person.post('session/organizations', { name: `Org ${at}` })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 422, 422, 422]);
    const refused = await person.post('session/organizations', { name: 'One more' });
    expect(refused.code).toBe('limit_reached');
    expect(refused.body.error.details).toEqual({ max: 50 });
    const own = answers.find(({ status }) => status === 201);
    const forked = await person.post(`${ok(own ?? refused).id}/fork`, { name: 'Copy' });
    expect(forked.code).toBe('limit_reached');
  });

  test('a read whose statement takes too long is rejected and releases its connection', async () => {
    const slow: ApiReadRoute = {
      ...{ operationId: 'readSlowly', method: 'GET', path: 'developer_api_slow', scope: 'any' },
      ...{ tag: 'Sandbox', summary: 'Sleeps', response: {}, responseName: 'Slow' },
      read: async ({ reader }) => {
        await reader.rows({ name: 'sleep_for_minutes', text: 'select pg_sleep(120)' }, []);
        return { data: [], hasMore: false, nextCursor: null };
      },
    };
    const withTimeout = await openServer('postgres', { statementSeconds: 5 });
    const { owner, orgId, appId } = await createTeam(withTimeout);
    const app = openApp(withTimeout, { routes: [...routes, slow] });
    const answer = await owner.at(app).get(`${orgId}/${appId}/developer_api_slow`);
    expect([answer.status, answer.code]).toEqual([503, 'service_unavailable']);
    expect(answer.headers['retry-after']).toBeDefined();
    ok(await owner.at(app).get('session'));
    await app.close();
    await withTimeout.close();
  });
});
