import { afterAll, describe, expect, it } from 'vitest';
import { audit, type Query } from '../simulation/auditor.ts';
import { effort } from '../support/effort.ts';
import { type ServerProcess, startServer } from '../support/processes.ts';
import { temporaryFolder } from './client.ts';
import { passed, placesIn, randomFrom, SEED } from './kills.ts';
import { lives, Walk } from './walks.ts';

const ROUNDS = effort(2, 6);
const CLIENTS = 16;
const KILL_AFTER_MS_MAX = 1_200;

const folder = temporaryFolder();
let server: ServerProcess | undefined;

afterAll(async () => {
  await server?.kill();
  folder.remove();
});

describe.each(placesIn(folder.path))('kill -9 while payments are moved on %s', (name, open) => {
  it('loses no acknowledged move, makes none twice, and leaves the books in order', async () => {
    const random = randomFrom(SEED);
    const { options, inspect } = await open();
    const start = () => startServer({ ...options, seed: folder.seed });
    const walks: Walk[] = [];
    const totals = { acknowledged: 0, found: 0, made: 0, done: 0 };

    server = await start();
    for (let round = 0; round < ROUNDS; round += 1) {
      const load = walkMany(server.url, `${round}`);
      await load.underway;
      await passed(random() * KILL_AFTER_MS_MAX);
      await server.kill();
      await load.ended;

      server = await start();
      const { url } = server;
      const cut = load.walks.filter((walk) => !walk.isDone);
      expect(cut.length, 'a kill that interrupts nobody proves nothing').toBeGreaterThan(0);
      totals.acknowledged += load.walks.reduce((sum, walk) => sum + walk.acknowledged, 0);
      for (const how of await Promise.all(load.walks.map((walk) => walk.resume(url)))) totals[how] += 1;
      // What was cut off goes on to its end.
      await Promise.all(cut.map((walk) => walk.finish(url)));
      walks.push(...load.walks);
    }
    // And what was acknowledged before the first kill is still said after the last.
    const { url } = server;
    await Promise.all(walks.map((walk) => walk.resume(url)));
    console.log(
      `${name}: seed ${SEED}, ${ROUNDS} kills, ${walks.length} payments, ${totals.acknowledged} moves acknowledged, ` +
        `${totals.found + totals.made} unknown, of which ${totals.found} had been written`,
    );

    expect(await server.stop()).toBe(0);
    await inspect(async (query) => {
      expect(await audit(query)).toEqual([]);
      await expectEnds(query, walks);
    });
  });
});

/** Each client walks one payment after the other, and ends at the first step that is not answered. */
function walkMany(url: string, name: string) {
  const walks: Walk[] = [];
  let tell = (): void => undefined;
  const underway = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const client = async (_: unknown, n: number): Promise<void> => {
    for (let i = n; ; i += 1) {
      const life = lives[i % lives.length];
      if (!life) throw new Error('there are lives to walk');
      const walk = new Walk(`${name}-${n}-${i}`, life);
      walks.push(walk);
      while (!walk.isDone) {
        if (!(await walk.step(url))) return;
        tell();
      }
    }
  };
  const ended = Promise.all(Array.from({ length: CLIENTS }, client));
  return { walks, underway, ended };
}

/** Every payment is there once and at the end of its life, and every step of every life has one kept answer. */
async function expectEnds(query: Query, walks: readonly Walk[]): Promise<void> {
  const rows = await query(`select id, status, version, amount_captured::integer as captured,
    amount_refunded::integer as refunded, amount_disputed::integer as disputed from payments order by id`);
  const wanted = walks.map(({ paymentId, life }) => ({ id: paymentId, ...life.end }));
  expect(rows).toEqual(wanted.sort((a, b) => (a.id < b.id ? -1 : 1)));
  const steps = walks.reduce((sum, { life }) => sum + life.steps.length, 0);
  expect(await query('select count(*)::integer as kept from idempotency')).toEqual([{ kept: steps }]);
  const accepted = `select count(*)::integer as accepted from audit where outcome = 'accepted' and action ~ 'payments|refunds|disputes'`;
  expect(await query(accepted)).toEqual([{ accepted: steps }]);
}
