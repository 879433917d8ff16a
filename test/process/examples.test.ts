import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { testNodeArgs } from '../support/processes.ts';

const root = new URL('../..', import.meta.url);
const examples = new URL('examples/', root);
const projects = readdirSync(examples, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && existsSync(new URL(`${entry.name}/package.json`, examples)))
  .map(({ name }) => name);

/** Links this package, as `npm install` does for `file:../..`. Other packages resolve from parent folders. */
function link(project: string): void {
  const modules = new URL(`${project}/node_modules/`, examples);
  mkdirSync(modules, { recursive: true });
  const target = new URL('sandbank', modules);
  if (!existsSync(target)) symlinkSync(fileURLToPath(root), fileURLToPath(target), 'junction');
}

const runners: Readonly<Record<string, string>> = { vitest: 'vitest/vitest.mjs', jest: 'jest/bin/jest.js' };

const running = new Set<ChildProcess>();
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** The command of a project's own `npm test`, run as npm runs it: in the package's folder. */
async function runTests(project: string): Promise<{ code: number | null; output: string }> {
  const folder = fileURLToPath(new URL(`${project}/`, examples));
  const { scripts } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8')) as {
    scripts: { test: string };
  };
  const [command = '', ...args] = scripts.test.split(' ');
  const runner = runners[command];
  const own = runner === undefined ? args : [fileURLToPath(new URL(`node_modules/${runner}`, root)), ...args];
  return runNode(folder, own);
}

async function runNode(
  cwd: string,
  args: readonly string[],
): Promise<{ code: number | null; output: string }> {
  const { NODE_OPTIONS: _options, VITEST: _vitest, ...env } = process.env;
  const child = spawn(process.execPath, [...testNodeArgs, ...args], {
    cwd,
    env: { ...env, NODE_ENV: 'test', CI: 'true' },
  });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  running.delete(child);
  return { code, output };
}

describe('the example projects', () => {
  test('are complete', () => {
    expect(projects).toEqual(['checkout', 'jest', 'vitest']);
  });

  test.each(projects)('%s: its tests pass', async (project) => {
    link(project);
    const { code, output } = await runTests(project);
    expect(code, output).toBe(0);
    if (project === 'checkout') {
      expect(output).toMatch(/tenant 50 has its own data/);
      expect(output).toMatch(/# fail 0/);
    }
  });

  test('the Vitest example compiles, with the types of its fixtures', async () => {
    link('vitest');
    const tsc = fileURLToPath(new URL('node_modules/typescript/bin/tsc', root));
    const { code, output } = await runNode(fileURLToPath(new URL('vitest/', examples)), [tsc]);
    expect(code, output).toBe(0);
  });

  test.each([
    'vitest/vitest.config.ts',
    'vitest/payments.test.ts',
    'jest/jest.config.js',
    'jest/payments.test.js',
  ])('docs/testing.md shows %s as it is', (file) => {
    const page = readFileSync(new URL('docs/testing.md', root), 'utf8');
    expect(page).toContain(`\n${readFileSync(new URL(file, examples), 'utf8').trimEnd()}\n\`\`\``);
  });

  test('the first example of docs/testing.md passes unchanged', async () => {
    const file = fileURLToPath(new URL('docs/snippets/testing/first.test.js', root));
    const { code, output } = await runNode(fileURLToPath(root), ['--test', file]);
    expect(code, output).toBe(0);
    expect(output).toMatch(/a payment settles/);
  });

  test('never sleep: they wait for the clock and for webhooks', () => {
    for (const project of projects)
      for (const entry of readdirSync(new URL(`${project}/`, examples), {
        recursive: true,
        withFileTypes: true,
      })) {
        const folder = entry.parentPath ?? entry.path;
        if (!entry.isFile() || !/\.[jt]s$/.test(entry.name) || folder.includes('node_modules')) continue;
        expect(readFileSync(`${folder}/${entry.name}`, 'utf8')).not.toMatch(
          /setTimeout|timers\/promises|sleep/,
        );
      }
  });
});
