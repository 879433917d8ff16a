/**
 * The baseline without pgbench: the same number of `pg` clients, prepared statements, sequential transactions. A statement
 * costs more in Node than in pgbench, which favours the server in the ratio; the results name the driver.
 */
import { performance } from 'node:perf_hooks';
import pg from 'pg';
import type { Statement } from './baseline.ts';
import { type Measurement, percentile } from './measurement.ts';
import { BASELINE_CLIENTS } from './pgbench.ts';

/** The `number` parameter: 12 digits, as in pgbench. */
let lastNumber = 500_000_000_000;

export async function runDriver(
  databaseUrl: string,
  statements: readonly Statement[],
  seconds: number,
): Promise<Measurement> {
  const clients = Array.from(
    { length: BASELINE_CLIENTS },
    () => new pg.Client({ connectionString: databaseUrl }),
  );
  await Promise.all(clients.map((client) => client.connect()));
  const latenciesMs: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  try {
    await Promise.all(
      clients.map(async (client) => {
        for (let at = performance.now(); at < endsAt; ) {
          await writeOnce(client, statements);
          const now = performance.now();
          latenciesMs.push(now - at);
          at = now;
        }
      }),
    );
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
  const ratePerSecond = latenciesMs.length / ((performance.now() - startedAt) / 1000);
  return { ratePerSecond, p50Ms: percentile(latenciesMs, 50), p99Ms: percentile(latenciesMs, 99) };
}

async function writeOnce(client: pg.Client, statements: readonly Statement[]): Promise<void> {
  lastNumber += 1;
  const number = String(lastNumber);
  const random = String(10_000_000_000 + Math.floor(Math.random() * 89_999_999_999));
  await client.query('begin');
  for (const [index, { sql, parameters }] of statements.entries()) {
    const values = parameters.map((parameter) => {
      if (parameter.kind === 'copied') return parameter.text;
      return parameter.kind === 'number' ? number : random;
    });
    await client.query({ name: `statement_${index}`, text: sql, values });
  }
  await client.query('commit');
}
