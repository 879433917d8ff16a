import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../docs/built.ts';
import { fillIn, parseHttp } from '../docs/http-file.ts';
import { type ServerProcess, startServer } from '../support/processes.ts';

const read = (name: string) => readFileSync(new URL(name, root), 'utf8');
const seedFile = 'examples/seed.json';
const seedKey = /"key": "(\w+)"/.exec(read(seedFile))?.[1] ?? '';

describe('examples/sandbank.http', () => {
  const { variables, requests } = parseHttp(read('examples/sandbank.http'));
  let server: ServerProcess;
  beforeAll(async () => {
    server = await startServer({ dataDir: 'memory', seed: fileURLToPath(new URL(seedFile, root)) });
    variables.set('host', server.url).set('key', seedKey);
  });
  afterAll(() => server?.stop());

  test('every request gives what the file says, one after the other', async () => {
    const answers = new Map<string, unknown>();
    const outcomes: string[] = [];
    for (const { title, name, expected, method, url, headers, body } of requests) {
      const fill = (text: string) => fillIn(text, variables, answers);
      const answer = await fetch(fill(url), {
        method,
        headers: headers.map(([header, value]) => [header, fill(value)] as [string, string]),
        ...(body === '' ? {} : { body: fill(body) }),
      });
      const result = (await answer.json()) as { status: string };
      if (name !== undefined) answers.set(name, result);
      const isRight = expected === undefined ? answer.ok : answer.status === expected;
      expect(isRight, `${title}: ${answer.status} ${JSON.stringify(result)}`).toBe(true);
      outcomes.push(`${title}: ${result.status}`);
    }
    expect(requests.length).toBeGreaterThan(25);
    for (const outcome of [
      'Win it: won',
      'Its first attempt fails: failed',
      'Straight to any state: settled',
      'It comes back: returned',
      'Back to real time: running',
    ])
      expect(outcomes).toContain(outcome);
  });
});
