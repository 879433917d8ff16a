/**
 * The installation of deploy/patroni, under load, through every fault that docs/reliability.md lists. `npm run test:cluster` runs all of
 * them; `npm test` runs one, because each takes about a minute.
 */
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Inbox, openInbox } from '../process/support/webhook-receiver.ts';
import { findPrograms, systemPostgres } from '../support/programs.ts';
import { randomFrom, testSeed } from '../support/seed.ts';
import { auditTenant, createTenant } from './support/audit.ts';
import { Clients } from './support/clients.ts';
import { Cluster } from './support/cluster.ts';
import { type Fault, faults } from './support/faults.ts';
import { type Outcome, reportOf } from './support/report.ts';

const CLIENTS = 16;
/** Writes before a fault and after the recovery. */
const STEADY_WRITES = 300;
/** Rounds after the first have the faults in random order. */
const ROUNDS = Number(process.env.SANDBANK_CLUSTER_ROUNDS ?? 1);
/** Part of the name of a fault, to run only that; empty for all. */
const ONLY = process.env.SANDBANK_CLUSTER_FAULT ?? 'kill -9 of the primary PostgreSQL';
const REPORT = process.env.SANDBANK_CLUSTER_REPORT;
const FAULT_MS_MAX = 900_000;
/** An outage of the database interrupts deliveries whose responses are then unknown: they are sent again under the same id. */
const INTERRUPTIONS_MAX = 4;

const found = findPrograms({
  programs: ['patroni', 'patronictl', 'etcd', 'haproxy'],
  packages: ['patroni', 'python3-etcd', 'etcd-server', 'haproxy', 'postgresql'],
});
const bin = systemPostgres();
const missing = 'missing' in found ? found.missing : bin === undefined ? 'no PostgreSQL of Debian' : '';
if (missing !== '') process.stderr.write(`Skipped: the cluster of deploy/patroni, because ${missing}.\n`);

let cluster: Cluster;
let inbox: Inbox;
const outcomes: Outcome[] = [];

beforeAll(async () => {
  if (missing !== '' || 'missing' in found) return;
  cluster = new Cluster({ files: found.files, bin: bin ?? '' });
  inbox = await openInbox({});
  await cluster.create();
});
afterAll(async () => {
  await cluster?.remove();
  await inbox?.close();
  if (outcomes.length > 0) process.stdout.write(`\n${reportOf(outcomes, testSeed)}\n`);
});

const random = randomFrom(testSeed);
const inTurn = faults.filter(({ name }) => name.includes(ONLY));
const rounds = Array.from({ length: ROUNDS }, (_, i) => i + 1);

describe.skipIf(missing !== '').each(rounds)('round %i', (round) => {
  const order = round === 1 ? inTurn : shuffled(inTurn);
  test.each(order.map((fault) => [fault.name, fault] as const))(
    '%s loses nothing and repeats nothing',
    { timeout: FAULT_MS_MAX },
    async (name, fault) => {
      try {
        outcomes.push({ name, round, ...(await run(fault, `round-${round}-${inTurn.indexOf(fault)}`)) });
        // After each fault: ten rounds take two hours.
        if (REPORT !== undefined) writeFileSync(REPORT, reportOf(outcomes, testSeed));
      } catch (error) {
        process.stderr.write(`The logs of the cluster are in ${cluster.writeLogs()}.\n`);
        throw error;
      }
    },
  );
});

/** Injects a fault under load, and returns how long no write was acknowledged. */
async function run(fault: Fault, name: string): Promise<Omit<Outcome, 'name' | 'round'>> {
  inbox.answer(name, () => ({ status: 204, afterMs: 0 }));
  const tenant = await createTenant(cluster.url, name, inbox);
  const clients = new Clients(cluster.url, tenant.key, CLIENTS);
  await clients.more(STEADY_WRITES);
  const before = clients.longestPause(clients.acknowledgements[0] ?? 0);
  const start = performance.now();
  await fault.inject(cluster, clients);
  await cluster.whole();
  const wholeAfter = performance.now() - start;
  await clients.more(STEADY_WRITES);
  // Again: Patroni may have noticed a fault only now.
  await cluster.whole();
  await clients.stop();
  const pause = clients.longestPause(start);
  const audited = await auditTenant(cluster, tenant, clients, inbox, INTERRUPTIONS_MAX);
  expect(audited.payments).toBeGreaterThan(STEADY_WRITES / 2);
  return { before, pause, wholeAfter, retries: clients.retries, ...audited };
}

function shuffled<Item>(items: readonly Item[]): readonly Item[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
