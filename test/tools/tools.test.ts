// Third-party tools with the OpenAPI document and the request collections. `npm run test:tools` installs them.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { openServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';
import { generators } from './callers.ts';
import { installTools, modules, runNode, runTool } from './tools.ts';

const examples = fileURLToPath(new URL('../../examples/', import.meta.url));
const tsx = createRequire(import.meta.url).resolve('tsx/cli');
const requestsMin = 25;

let folder: string;
let server: Server;
let url: string;

beforeAll(async () => {
  await installTools();
  folder = mkdtempSync(join(tmpdir(), 'sandbank-tools-'));
  symlinkSync(modules, join(folder, 'node_modules'));
  server = await openServer('pglite');
  url = await server.listen();
  writeFileSync(join(folder, 'openapi.json'), await (await fetch(`${url}/openapi.json`)).text());
});
afterAll(async () => {
  await server?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

test('Spectral finds neither an error nor a warning', async () => {
  writeFileSync(join(folder, 'ruleset.json'), JSON.stringify({ extends: ['spectral:oas'] }));
  const args = ['lint', 'openapi.json', '--ruleset', 'ruleset.json', '--format', 'json', '--quiet'];
  const output = await runTool('spectral', [...args, '--fail-severity', 'hint'], folder);
  expect(JSON.parse(output)).toEqual([]);
});

describe.each(generators)('the $name client', ({ name, commands, program }) => {
  test('compiles in strict mode, creates a payment and captures part of it', async () => {
    const place = join(folder, name);
    mkdirSync(place);
    cpSync(join(folder, 'openapi.json'), join(place, 'openapi.json'));
    for (const [tool, ...args] of commands) await runTool(tool, args, place);
    writeFileSync(join(place, 'package.json'), JSON.stringify({ type: 'module' }));
    writeFileSync(join(place, 'program.ts'), program);
    const compilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: 'es2022',
      module: 'esnext',
      moduleResolution: 'bundler',
      lib: ['es2022', 'dom', 'dom.iterable'],
      types: ['node'],
    };
    writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    await runTool('tsc', ['-p', '.'], place);
    const { key } = await tenant(server);
    const output = await runNode([tsx, 'program.ts', url, key], place);
    expect(output.trim()).toBe('partially_captured');
  });
});

test('httpYac sends every request of examples/sandbank.intellij.http', async () => {
  const { key } = await tenant(server);
  const text = readFileSync(join(examples, 'sandbank.intellij.http'), 'utf8')
    .replace(/^@host = .*$/m, `@host = ${url}`)
    .replace(/^@key = .*$/m, `@key = ${key}`);
  writeFileSync(join(folder, 'sandbank.http'), text);
  const output = await runTool('httpyac', ['send', 'sandbank.http', '--all', '--json'], folder);
  const { requests } = JSON.parse(output) as {
    requests: { response: { statusCode: number; name: string } }[];
  };
  expect(requests.length).toBeGreaterThan(requestsMin);
  const rejected = requests.filter(({ response }) => response.statusCode >= 300);
  expect(rejected.map(({ response }) => response.statusCode)).toEqual([422, 422]);
});

test('Bruno runs the collection of examples/bruno without a failed assertion', async () => {
  const { key } = await tenant(server);
  const place = join(folder, 'bruno');
  cpSync(join(examples, 'bruno'), place, { recursive: true });
  const variables = ['--env-var', `host=${url}`, '--env-var', `key=${key}`];
  await runTool('bru', ['run', '--env', 'local', ...variables, '--output', 'report.json'], place);
  const [{ summary }] = JSON.parse(readFileSync(join(place, 'report.json'), 'utf8')) as [
    { summary: { totalRequests: number; failedRequests: number; failedAssertions: number } },
  ];
  expect(summary).toMatchObject({ failedRequests: 0, failedAssertions: 0 });
  expect(summary.totalRequests).toBeGreaterThan(requestsMin);
});
