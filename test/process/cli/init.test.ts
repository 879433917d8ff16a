import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RunningCommand, run, runBinary } from '../../support/command.ts';
import { testNodeArgs } from '../../support/processes.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

let outer = '';
/** The folder of the project. */
let directory = '';
const running = new Set<{ kill(): unknown }>();

beforeEach(() => {
  outer = mkdtempSync(join(tmpdir(), 'sandbank-init-'));
  directory = join(outer, 'shop');
  mkdirSync(directory);
});
afterEach(() => rmSync(outer, { recursive: true, force: true, maxRetries: 5 }));
afterAll(() => {
  for (const one of running) one.kill();
});

const read = (path: string) => readFileSync(join(directory, path), 'utf8');
const write = (path: string, content: string) => writeFileSync(join(directory, path), content);
const manifest = (content: object) => write('package.json', JSON.stringify(content));

/** Links a package, as `npm install` does for a package in a folder. */
function install(name: string, target: string): void {
  mkdirSync(join(directory, 'node_modules'), { recursive: true });
  symlinkSync(target, join(directory, 'node_modules', name), 'junction');
}

/** Every file with its content, except installed packages and data. */
const snapshot = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => !/^(node_modules|\.sandbank)/.test(path) && existsSync(join(folder, path)))
      .flatMap((path) => {
        try {
          return [[path, readFileSync(join(folder, path), 'utf8')]];
        } catch {
          return [[path, 'folder']];
        }
      }),
  );

interface Initialization {
  readonly status: string;
  readonly runner: string;
  readonly packageManager: string;
  readonly files: readonly { path: string; outcome: string; note: string; todo: string | null }[];
  readonly nextSteps: readonly { command: string }[];
}

async function init(...args: string[]): Promise<Initialization> {
  const { code, stdout, stderr } = await run(['init', ...args, '--json'], { directory });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Initialization;
}

const outcomes = ({ files }: Initialization) =>
  Object.fromEntries(files.map(({ path, outcome }) => [path, outcome]));

/** Runs a command in the project and returns its output. It must succeed. */
async function execute(command: string, args: readonly string[], env: object = {}): Promise<string> {
  const { NODE_OPTIONS: _options, VITEST: _vitest, FORCE_COLOR: _color, ...inherited } = process.env;
  const child: ChildProcess = spawn(command, args, {
    cwd: directory,
    env: { ...inherited, CI: 'true', NO_COLOR: '1', ...env },
  });
  running.add(child);
  const output = Promise.all([child.stdout, child.stderr].map((stream) => (stream ? text(stream) : '')));
  const code = await new Promise((resolve) => child.once('close', resolve));
  running.delete(child);
  const written = (await output).join('');
  expect(code, written).toBe(0);
  return written;
}

const node = (...args: string[]) => execute(process.execPath, [...testNodeArgs, ...args]);

describe('sandbank init', () => {
  test('sets up an empty folder, and a second run changes nothing', async () => {
    const first = await runBinary(['init'], { directory });
    expect([first.code, first.stderr]).toEqual([0, '']);
    expect(first.stdout).toMatch(/^created +sandbank\.seed\.json/m);
    expect(
      first.stdout
        .split('Next steps:\n')[1]
        ?.split('\n')
        .map((line) => line.split('#')[0]?.trim()),
    ).toEqual([
      'npm install --save-dev sandbank',
      'npx sandbank start',
      'npx sandbank listen --forward-to http://127.0.0.1:3000/webhooks',
      'node --test test/sandbank.test.mjs',
      '',
    ]);
    const files = snapshot(directory);
    expect(Object.keys(files).sort()).toEqual([
      '.gitignore',
      '.mcp.json',
      'sandbank.seed.json',
      'test',
      join('test', 'sandbank.test.mjs'),
    ]);
    const second = await runBinary(['init'], { directory });
    expect([second.code, second.stdout]).toEqual([0, expect.stringContaining('Nothing to do')]);
    expect(snapshot(directory)).toEqual(files);
  });

  test('writes nothing with --dry-run', async () => {
    const { status, files } = await init('new', '--dry-run');
    expect([status, files.every(({ outcome }) => outcome === 'created')]).toEqual(['dry_run', true]);
    const { stdout } = await run(['init', '--dry-run'], { directory });
    expect(stdout).toMatch(/^would create +\.gitignore/m);
    expect(readdirSync(directory)).toEqual([]);
  });

  test('creates a folder that is named, and enters it in the next steps', async () => {
    const { nextSteps } = await init('new/shop');
    expect(existsSync(join(directory, 'new/shop/sandbank.seed.json'))).toBe(true);
    expect(nextSteps[0]?.command).toBe(`cd ${join('new', 'shop')}`);
  });

  test('leaves existing files unchanged, and prints the lines to add to a configuration', async () => {
    manifest({ devDependencies: { vitest: '4' } });
    const own = { 'sandbank.seed.json': '{}', 'vite.config.ts': 'export default {}', 'pnpm-lock.yaml': '' };
    for (const [path, content] of Object.entries(own)) write(path, content);
    write('.gitignore', 'node_modules\r\n');
    write('.mcp.json', '{"mcpServers":{"db":{"command":"db"}}}');
    const result = await init();
    expect(outcomes(result)).toEqual({
      'sandbank.seed.json': 'unchanged',
      '.gitignore': 'updated',
      '.mcp.json': 'updated',
      'vite.config.ts': 'unchanged',
      'test/sandbank.test.js': 'created',
    });
    expect(result.packageManager).toBe('pnpm');
    expect(result.files.flatMap(({ todo }) => todo ?? [])).toEqual([
      "test: { globalSetup: ['sandbank/vitest/setup'] }",
    ]);
    for (const [path, content] of Object.entries(own)) expect(read(path)).toBe(content);
    expect(read('.gitignore')).toBe('node_modules\r\n.sandbank/\r\n');
    expect(JSON.parse(read('.mcp.json')).mcpServers).toMatchObject({ db: { command: 'db' } });
    expect((await run(['init'], { directory })).stdout).toMatch(/^Add to vite\.config\.ts:\n {2}test: /m);
  });

  test('writes nothing outside the folder, not even through symbolic links', async () => {
    const elsewhere = join(outer, 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, 'ignored'), 'theirs\n');
    symlinkSync(elsewhere, join(directory, 'test'), 'junction');
    symlinkSync(join(elsewhere, 'ignored'), join(directory, '.gitignore'));
    symlinkSync(join(elsewhere, 'missing'), join(directory, '.mcp.json'));
    const before = snapshot(elsewhere);
    expect(outcomes(await init())).toEqual({
      'sandbank.seed.json': 'created',
      '.gitignore': 'unchanged',
      '.mcp.json': 'unchanged',
      'test/sandbank.test.mjs': 'unchanged',
    });
    expect(snapshot(elsewhere)).toEqual(before);
  });

  test('rejects a file instead of a folder, and a package.json that it cannot read', async () => {
    write('file', '');
    expect(await run(['init', 'file'], { directory })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is not a folder'),
    });
    write('package.json', '{');
    expect(await run(['init'], { directory })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('package.json is not a JSON object'),
    });
    expect(existsSync(join(directory, 'sandbank.seed.json'))).toBe(false);
  });
});

describe('the files that sandbank init writes', () => {
  test('a test for node:test passes, and the seed file names a schema that exists', async () => {
    manifest({});
    install('sandbank', root);
    const { nextSteps } = await init();
    expect(nextSteps[0]?.command).toBe('npx sandbank start');
    const { $schema } = JSON.parse(read('sandbank.seed.json')) as { $schema: string };
    expect(JSON.parse(read($schema))).toHaveProperty('title', 'Sandbank seed file');
    expect(await node('--test', 'test/sandbank.test.mjs')).toMatch(/# pass 1/);
  });

  const runners = [
    ['vitest', ['vitest.mjs', 'run']],
    ['jest', ['bin/jest.js']],
  ] as const;

  test.each(runners)(
    'a test for %s passes with the configuration that is written for it',
    async (name, [program, ...args]) => {
      manifest({ devDependencies: { [name]: '*' } });
      install('sandbank', root);
      install(name, join(root, 'node_modules', name));
      expect(outcomes(await init())).toMatchObject({
        [`${name}.config.mjs`]: 'created',
        'test/sandbank.test.js': 'created',
      });
      // The limit of a test, 5 seconds, is for idle machines.
      const file = join(root, 'node_modules', name, program);
      expect(await node(file, ...args, '--testTimeout=60000')).toMatch(/Tests:? +1 passed/);
    },
  );

  test('sandbank start uses the seed file, and commands and a test for pytest use its key', async () => {
    write('pyproject.toml', '');
    const { nextSteps } = await init();
    expect(nextSteps.at(-1)?.command).toBe('pytest tests/test_sandbank.py');
    const seed = JSON.parse(read('sandbank.seed.json'));
    expect(seed.$schema).toBe('http://127.0.0.1:4000/seed.schema.json');
    const [{ users, applications }] = seed.organizations;
    const server = new RunningCommand(['start', '--port', '0'], { directory });
    running.add(server);
    await server.waitForOutput(/Console {2}(\S+)/);
    expect(server.stdout).toMatch(/^ {2}Seed {5}.*sandbank\.seed\.json$/m);
    // A seeded key is a secret of the file: no output shows it.
    expect(server.stdout).not.toContain(applications[0].apiKeys[0].key);
    const created = await runBinary(['payments', 'create', '--amount', '12.50', '--json'], { directory });
    expect([created.code, JSON.parse(created.stdout)]).toMatchObject([0, { amount: 1250 }]);
    const [, url = ''] = /API {6}(\S+)\/_api/.exec(server.stdout) ?? [];
    const program = 'import test_sandbank; test_sandbank.test_a_payment_settles()';
    await execute('python3', ['-c', program], { SANDBANK_URL: url, PYTHONPATH: 'tests' });
    const { email, password } = users[0];
    const signedIn = await fetch(`${url}/console/api/session/sign_in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ email, password }),
    });
    expect(signedIn.status).toBe(200);
    expect(await server.stop('SIGTERM')).toBe(0);
  });
});
