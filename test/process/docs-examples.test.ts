import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseHttp } from '../../scripts/collections/http-file.ts';
import { root } from '../docs/built.ts';
import { fillIn, textAt } from '../docs/http-file.ts';
import { type ServerProcess, startServer } from '../support/processes.ts';

const read = (name: string) => readFileSync(new URL(name, root), 'utf8');
const seedFile = 'examples/seed.json';
const seedKey = /"key": "(\w+)"/.exec(read(seedFile))?.[1] ?? '';

describe('examples/sandbank.http', () => {
  const { variables, requests } = parseHttp(read('examples/sandbank.http'));
  const values = new Map(variables);
  let server: ServerProcess;
  beforeAll(async () => {
    server = await startServer({ dataDir: 'memory', seed: fileURLToPath(new URL(seedFile, root)) });
    values.set('host', server.url).set('key', seedKey);
  });
  afterAll(() => server?.stop());

  test('every request gets the response that the file states, in order', async () => {
    const outcomes: string[] = [];
    for (const { title, expected, method, url, headers, body, captures } of requests) {
      const fill = (text: string) => fillIn(text, values);
      const answer = await fetch(fill(url), {
        method,
        headers: headers.map(([header, value]) => [header, fill(value)] as [string, string]),
        ...(body === '' ? {} : { body: fill(body) }),
      });
      const result = (await answer.json()) as { status: string };
      const isRight = expected === undefined ? answer.ok : answer.status === expected;
      expect(isRight, `${title}: ${answer.status} ${JSON.stringify(result)}`).toBe(true);
      for (const [variable, path] of captures) values.set(variable, textAt(result, path));
      outcomes.push(`${title}: ${result.status}`);
    }
    expect(requests.length).toBeGreaterThan(25);
    for (const outcome of [
      'Win the dispute: won',
      'Run the first attempt: declined: failed',
      'Advance it straight to settled: settled',
      'Run the outcome: returned: returned',
      'Reset the clock to real time: running',
    ])
      expect(outcomes).toContain(outcome);
  });
});
