/**
 * A process that is suspended for longer than a statement may take: Ctrl-Z and `fg`, a laptop lid, `docker pause`. Its timers fire
 * before the late results arrive, and those results must not reach another caller.
 *
 * Two servers on each database have half of the rounds each, all at the same time: a suspended process uses no CPU.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, inject, it, vi } from 'vitest';
import { migratedDatabase } from '../support/postgres.ts';
import { type ServerProcess, startServer } from '../support/processes.ts';
import { call, PAYMENTS } from './support/client.ts';
import { sleep } from './support/databases.ts';

/** On each database. */
const ROUNDS = 20;
const SERVERS = 2;
const ROUNDS_MAX = 60;
const STATEMENT_SECONDS = 1;
const SUSPENDED_MS = 1_300;
/** Responses between two suspensions: by then the server has recovered from the one before. */
const ANSWERS_BETWEEN = 10;
const CALLERS_EACH = 4;
const STATUS = '/_api/developer_api_status';

const ORGANIZATIONS = {
  Acme: 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ01',
  Globex: 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ02',
};
type Name = keyof typeof ORGANIZATIONS;

const seedContent = {
  organizations: Object.entries(ORGANIZATIONS).map(([name, key]) => ({
    name,
    applications: [
      { name: 'web', apiKeys: [{ name: 'ci', key, scopes: ['payments:read', 'payments:write'] }] },
    ],
  })),
};

interface Observed {
  readonly acknowledged: Record<Name, Set<string>>;
  readonly wrong: string[];
  unavailable: number;
  refusedStrangers: number;
}

/** Callers that know their own data: a response with data of the other organization, or for an unknown key, is recorded in `wrong`. */
function startCallers(server: ServerProcess, observed: Observed): () => Promise<void> {
  let isStopped = false;
  let number = 0;
  const { url } = server;

  const note = async (
    work: () => Promise<{ status: number; problem: string | undefined }>,
  ): Promise<void> => {
    const { status, problem } = await work();
    if (status === 503) observed.unavailable += 1;
    else if (problem !== undefined) observed.wrong.push(problem);
  };
  const member = async (name: Name, key: string): Promise<void> => {
    while (!isStopped) {
      number += 1;
      const reference = `${name}-${number}`;
      await note(async () => {
        const body = { amount: 1250, currency: 'EUR', reference };
        const created = await call(url + PAYMENTS, { method: 'POST', key, idempotencyKey: reference, body });
        const isOwn = created.status === 201 && created.body.reference === reference;
        if (isOwn) observed.acknowledged[name].add(String(created.body.id));
        return {
          ...created,
          problem: isOwn ? undefined : `create by ${name}: ${JSON.stringify(created.body)}`,
        };
      });
      await note(async () => {
        const found = await call(url + STATUS, { key });
        const { organization } = found.body as { organization?: { name?: string } };
        const isOwn = found.status === 200 && organization?.name === name;
        return { ...found, problem: isOwn ? undefined : `status of ${name}: ${JSON.stringify(found.body)}` };
      });
      await note(async () => {
        const listed = await call(`${url}${PAYMENTS}?limit=20`, { key });
        const rows = (listed.body.data ?? []) as { reference: string }[];
        const isOwn = listed.status === 200 && rows.every((row) => row.reference.startsWith(name));
        return { ...listed, problem: isOwn ? undefined : `list of ${name}: ${JSON.stringify(listed.body)}` };
      });
    }
  };
  const stranger = async (): Promise<void> => {
    while (!isStopped) {
      number += 1;
      const key = `sbk_sandbox_${String(number).padStart(32, 'x')}`;
      await note(async () => {
        const found = await call(url + STATUS, { key });
        if (found.status === 401) observed.refusedStrangers += 1;
        return {
          ...found,
          problem: found.status === 401 ? undefined : `stranger: ${JSON.stringify(found.body)}`,
        };
      });
    }
  };
  const callers = [
    ...Object.entries(ORGANIZATIONS).flatMap(([name, key]) =>
      Array.from({ length: CALLERS_EACH }, () => member(name as Name, key)),
    ),
    ...Array.from({ length: CALLERS_EACH }, stranger),
  ];
  return async () => {
    isStopped = true;
    await Promise.all(callers);
  };
}

/** Resolves when each organization has this many more payments and unknown keys as many more refusals, or a response was wrong. */
async function answersOf(observed: Observed, count: number): Promise<void> {
  const { Acme, Globex } = observed.acknowledged;
  const counts = () => [Acme.size, Globex.size, observed.refusedStrangers];
  const before = counts();
  const isReached = () => counts().every((now, i) => now >= (before[i] ?? 0) + count);
  await vi.waitUntil(() => observed.wrong.length > 0 || isReached(), { interval: 5 });
}

async function idsOf(server: ServerProcess, key: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let cursor = ''; ; ) {
    const { status, body } = await call(`${server.url}${PAYMENTS}?limit=100${cursor}`, { key });
    expect(status).toBe(200);
    for (const { id } of body.data as { id: string }[]) ids.add(id);
    if (body.hasMore !== true) return ids;
    cursor = `&cursor=${encodeURIComponent(String(body.nextCursor))}`;
  }
}

const kinds = ['embedded', 'postgres'] as const;
const servers = kinds.flatMap((kind) => Array.from({ length: SERVERS }, (_, i) => ({ kind, number: i + 1 })));

it.concurrent.for(servers)(
  'a server that is suspended under load ($kind, $number) sends nobody the data of another caller',
  async ({ kind }) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-suspend-'));
    const seed = path.join(folder, 'seed.json');
    writeFileSync(seed, JSON.stringify(seedContent));
    const where =
      kind === 'embedded'
        ? { dataDir: path.join(folder, 'data') }
        : { databaseUrl: await migratedDatabase(inject('postgresUrl')) };
    const env = { SANDBANK_STATEMENT_TIMEOUT: String(STATEMENT_SECONDS) };
    const server = await startServer({ ...where, seed, env, nodeArgs: [] });
    try {
      await expectOwnDataOnly(kind, server);
    } finally {
      await server.kill();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  },
);

async function expectOwnDataOnly(kind: (typeof kinds)[number], server: ServerProcess): Promise<void> {
  const observed: Observed = {
    acknowledged: { Acme: new Set(), Globex: new Set() },
    wrong: [],
    unavailable: 0,
    refusedStrangers: 0,
  };
  const stop = startCallers(server, observed);
  try {
    // Rounds in which no result was late prove nothing: there are more of them until one was.
    const isEnough = (round: number) =>
      round >= ROUNDS_MAX || (round >= ROUNDS / SERVERS && (kind === 'postgres' || observed.unavailable > 0));
    for (let round = 0; !isEnough(round) && observed.wrong.length === 0; round += 1) {
      await answersOf(observed, ANSWERS_BETWEEN);
      server.child.kill('SIGSTOP');
      await sleep(SUSPENDED_MS);
      server.child.kill('SIGCONT');
    }
    await answersOf(observed, ANSWERS_BETWEEN);
  } finally {
    await stop();
  }
  expect(observed.wrong.slice(0, 5)).toEqual([]);
  if (kind === 'embedded') expect(observed.unavailable).toBeGreaterThan(0);
  expect(observed.refusedStrangers).toBeGreaterThan(0);
  for (const [name, key] of Object.entries(ORGANIZATIONS)) {
    const found = await idsOf(server, key);
    const { [name as Name]: own } = observed.acknowledged;
    expect(own.size).toBeGreaterThan(0);
    expect([...own].filter((id) => !found.has(id))).toEqual([]);
  }
  expect((await call(`${server.url}/readyz`)).status).toBe(200);
}
