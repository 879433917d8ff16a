import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DeliveryQueue } from '../../src/delivery/queue.ts';
import { forgetTrails, sweepDeleted } from '../../src/engine/deletion.ts';
import { RequestJournal } from '../../src/engine/request-journal.ts';
import type { Server } from '../../src/server.ts';
import { type ReaperSettings, reapOnce, startReaper } from '../../src/workers/reaper.ts';
import { openEngine, openServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';

const rows = 2_500;

describe('expired rows', () => {
  let server: Server;
  beforeAll(async () => {
    server = await openServer('postgres');
  });
  afterAll(() => server.close());

  const all = async (text: string) => (await server.database.execute(text, [])).rows as { count: string }[];
  const count = async (from: string) => Number((await all(`select count(*) from ${from}`))[0]?.count);

  function reaper(problems: unknown[], removed: Record<string, number>): ReaperSettings {
    const { database, people } = server;
    return {
      ...{ engine: openEngine(database), queue: new DeliveryQueue(database, 'a test'), people },
      journal: new RequestJournal(database),
      organizations: {
        expire: () => server.operator.expire(),
        sweep: () => sweepDeleted(database, 0),
        forgetTrails: () => forgetTrails(database, Date.now()),
      },
      attemptDays: 30,
      requestDays: 7,
      wallClock: Date.now,
      onError: (error) => problems.push(error),
      measures: {
        removed: (what, gone) => {
          removed[what] = (removed[what] ?? 0) + gone;
        },
        finished: () => {
          removed.finished = (removed.finished ?? 0) + 1;
        },
      },
    };
  }

  /** Thousands of rows of each kind, more than one batch of them expired, and one of each that is not. */
  async function age(orgId: string, appId: string): Promise<void> {
    const old = (days: number) => `now() - interval '${days} days'`;
    const ages = (days: number) => `case when n = 0 then now() else ${old(days)} end`;
    const series = `from generate_series(0, ${rows}) n`;
    await all(`insert into idempotency (org_id, app_id, key, fingerprint, status, body, created_at)
      select '${orgId}', '${appId}', 'old ' || n, sha256('old'), 201, '{}', ${ages(2)} ${series}`);
    await all(`insert into idempotency_secrets (org_id, app_id, key, sealed_body, created_at)
      select '${orgId}', '${appId}', 'old ' || n, 'sealed', case when n = 0 then now() - interval '29 minutes'
        else now() - interval '31 minutes' end ${series}`);
    await all(`insert into requests (org_id, id, app_id, at, method, path, route, http_status, duration_us, actor_kind, actor_id, is_replay)
      select '${orgId}', 'req_old' || n, '${appId}', ${ages(8)}, 'GET', '/', 'x', 200, 1, 'api_key', 'x', false ${series}`);
    await all(
      `insert into request_minutes select '${orgId}', '${appId}', ${old(40)} - n * interval '1 minute', ${'0, '.repeat(16)}0 ${series}`,
    );
    await all(`insert into delivery_attempts (org_id, delivery_id, number, at, sent_at, response_body, duration_ms, status)
      select '${orgId}', 'dlv_old' || n, 1, now(), ${ages(31)}, 'said', 1, 'failed' ${series}`);
    await all(
      `insert into persons (id, name, email, created_at, updated_at) values ('old', 'Old', 'old@example.test', now(), now()) on conflict do nothing`,
    );
    await all(`insert into person_sessions (id, person_id, token, created_at, updated_at, expires_at)
      select 'ses' || n, 'old', 'tok' || n, now(), now(), ${ages(1)} + interval '1 minute' ${series}`);
  }

  it('are deleted in batches, once, by two concurrent nodes, and newer rows remain', async () => {
    const { orgId, appId } = await tenant(server);
    await age(orgId, appId);
    const problems: unknown[] = [];
    const removed: Record<string, number> = {};
    const settings = reaper(problems, removed);
    await Promise.all([reapOnce(settings), reapOnce(settings)]);
    // Where both nodes reached the last rows, one of them may have left some for the next round.
    await reapOnce(settings);
    expect(problems).toEqual([]);
    expect(removed).toEqual({
      idempotency_keys: rows,
      idempotency_secrets: rows,
      attempt_bodies: rows,
      requests: rows,
      request_counts: rows + 1,
      sign_ins: rows,
      expired_organizations: 0,
      deleted_organization_rows: 0,
      expired_trails: 0,
      finished: 3,
    });
    expect(await count(`idempotency where key like 'old %'`)).toBe(1);
    expect(await count('idempotency_secrets')).toBe(1);
    expect(await count(`requests where id like 'req_old%'`)).toBe(1);
    expect(await count(`delivery_attempts where delivery_id like 'dlv_old%'`)).toBe(rows + 1);
    expect(await count(`delivery_attempts where response_body = 'said'`)).toBe(1);
    expect(await count('person_sessions')).toBe(1);
  });

  it('are deleted for every kind except the one that fails; the failure is reported and the round is not counted', async () => {
    const problems: unknown[] = [];
    const removed: Record<string, number> = {};
    const journal = { reap: () => Promise.reject(new Error('away')), reapMinutes: () => Promise.resolve(3) };
    await reapOnce({ ...reaper(problems, removed), journal });
    expect(String(problems)).toBe('Error: away');
    expect(removed).toMatchObject({ request_counts: 3 });
    expect(removed.finished).toBeUndefined();
  });

  it('are vacuumed after they were deleted; a failure is reported and the round is not counted', async () => {
    const problems: unknown[] = [];
    const removed: Record<string, number> = {};
    const calls: string[] = [];
    const organizations = {
      ...reaper([], {}).organizations,
      forgetTrails: async () => calls.push('trails'),
    };
    const settings = { ...reaper(problems, removed), organizations };
    await reapOnce({ ...settings, vacuum: async () => calls.push('vacuum') });
    expect([calls, removed.finished, problems]).toEqual([['trails', 'vacuum'], 1, []]);
    await reapOnce({ ...settings, vacuum: () => Promise.reject(new Error('away')) });
    expect([removed.finished, String(problems)]).toEqual([1, 'Error: away']);
  });

  it('are deleted soon after the start, one round at a time, and stop waits for the kind in progress', async () => {
    let begin: () => void = () => undefined;
    let end: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const held = new Promise<void>((resolve) => {
      end = resolve;
    });
    const later: string[] = [];
    const engine = {
      reapSecrets: async () => 0,
      reap: async () => {
        begin();
        await held;
        later.push('reaped');
        return 0;
      },
    };
    const queue = { clearBodies: async () => later.push('must not begin') };
    const stop = startReaper({ ...reaper([], {}), engine, queue, firstMs: 1 });
    await begun;
    const stopped = stop().then(() => later.push('stopped'));
    end();
    await stopped;
    expect(later).toEqual(['reaped', 'stopped']);
  });

  it('are found through an index, regardless of the number of attempts already cleared', async () => {
    const { rows: plan } = await server.database.execute(
      `explain select ctid from delivery_attempts where sent_at < now() - interval '30 days' and not bodies_cleared limit 1000`,
      [],
    );
    expect(JSON.stringify(plan)).toContain('delivery_attempts_uncleared');
  });
});
