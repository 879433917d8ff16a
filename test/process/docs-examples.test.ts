import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseHttp } from '../../scripts/collections/http-file.ts';
import { readMarkdown, root } from '../docs/built.ts';
import { fillIn, textAt } from '../docs/http-file.ts';
import { freePort, type ServerProcess, startServer, testNodeArgs } from '../support/processes.ts';

const read = (name: string) => readFileSync(new URL(name, root), 'utf8');
const pathOf = (name: string) => fileURLToPath(new URL(name, root));
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const seedFile = 'examples/seed.json';
const seedKey = /"key": "(\w+)"/.exec(read(seedFile))?.[1] ?? '';
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandbank-examples-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('examples/sandbank.http', () => {
  const { variables, requests } = parseHttp(read('examples/sandbank.http'));
  const values = new Map(variables);
  let server: ServerProcess;
  beforeAll(async () => {
    server = await startServer({ dataDir: 'memory', seed: pathOf(seedFile) });
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

describe('examples/github-actions.yml', () => {
  const workflow = read('examples/github-actions.yml');
  /** The scripts of its steps, one-liners and blocks. */
  const steps = [
    ...workflow.matchAll(/- name: (.+)\n(?: +if: .+\n)? +run: (?:\|\n((?: {10}.*\n?)+)|(.+))/g),
  ].map(([, name = '', block, line]) => ({ name, script: (block ?? line ?? '').replace(/^ {10}/gm, '') }));
  const stepOf = (name: string) => steps.find((step) => step.name === name)?.script ?? '';

  test('every command of Sandbank in it is one', () => {
    expect(steps.map(({ name }) => name)).toEqual([
      'Build Sandbank',
      'Start Sandbank',
      'Test',
      'What Sandbank said',
    ]);
    const called = [...workflow.matchAll(/npm --prefix sandbank (?:run )?(\w+)/g)].map(
      ([, script]) => script,
    );
    expect(called).toEqual(['build', 'start']);
    for (const script of called) expect(Object.keys(scripts)).toContain(script);
    expect(workflow).toContain(`SANDBANK_API_KEY: ${seedKey}`);
    const page = readMarkdown().get('ci.md') ?? '';
    expect(page).toContain(seedKey);
    for (const line of [...stepOf('Build Sandbank').split('\n'), 'curl --retry 60 --retry-connrefused'])
      expect(page).toContain(line.trim());
  });

  test('its server starts, waits for nothing but readiness, and knows the key', async () => {
    if (['bash', 'curl', 'npm'].some((command) => spawnSync(command, ['--version']).status !== 0))
      return console.warn('skipped: bash, curl and npm are needed');
    const place = join(folder, 'project');
    mkdirSync(place);
    symlinkSync(pathOf('.'), join(place, 'sandbank'));
    const port = String(await freePort());
    const url = `http://127.0.0.1:${port}`;
    const env = { ...process.env, PORT: port, SANDBANK_URL: url, SANDBANK_DATA_DIR: '' };
    const script = `set -e\n${stepOf('Start Sandbank')}\nread -r _`;
    const shell = spawn('bash', ['-c', script], {
      cwd: place,
      env,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    try {
      let output = '';
      shell.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      while (!output.includes('"readiness"')) {
        const [text] = await Promise.race([once(shell.stdout, 'data'), once(shell, 'exit')]);
        if (typeof text !== 'string') throw new Error(`The step ended: ${output}`);
      }
      const headers = { authorization: `Bearer ${seedKey}` };
      const status = await fetch(`${url}/_api/developer_api_status`, { headers });
      expect(status.status).toBe(200);
    } finally {
      if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGTERM');
    }
  });
});

describe('Dockerfile', () => {
  // Lines that go on in the next one are one instruction.
  const instructions = read('Dockerfile')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ word: line.split(' ')[0] ?? '', rest: line.slice(line.indexOf(' ') + 1) }));
  const last = instructions.slice(instructions.findLastIndex(({ word }) => word === 'FROM'));
  const argumentOf = (word: string) => last.find((one) => one.word === word)?.rest ?? '';
  const copies = instructions
    .filter(({ word, rest }) => word === 'COPY' && !rest.startsWith('--from'))
    .flatMap(({ rest }) => rest.split(' ').slice(0, -1));

  test('copies what is there, and the build context lets it in', () => {
    expect(copies).toContain('src');
    for (const source of copies) expect(existsSync(pathOf(source)), source).toBe(true);
    const ignored = read('.dockerignore').split('\n');
    expect(ignored[0]).toBe('**');
    for (const source of copies) expect(ignored, source).toContain(`!${source}`);
  });

  test('copies all that the build reads', () => {
    const prepare = read('scripts/prepare.mjs');
    const folders = [...prepare.matchAll(/filesUnder\('([\w/]+)'\)/g)].map(([, name]) => name?.split('/')[0]);
    const listed = [
      ...(/\[('\w+'(?:, '\w+')*)\]\s*\.flatMap\(filesUnder\)/.exec(prepare)?.[1] ?? '').matchAll(/\w+/g),
    ];
    expect(
      [...folders, ...listed.map(([name]) => name)].filter((name) => !copies.includes(name ?? '')),
    ).toEqual([]);
  });

  test('runs commands of the package, as a user without rights, with data on a volume', () => {
    const commands = instructions.filter(({ word }) => word === 'RUN').map(({ rest }) => rest);
    for (const [, script = ''] of commands.join('\n').matchAll(/npm run ([\w-]+)/g))
      expect(Object.keys(scripts)).toContain(script);
    // Which image that is, test/contract/deploy.test.ts checks.
    expect(argumentOf('FROM')).toMatch(/^\$\{NODE_IMAGE\}$/);
    expect(argumentOf('USER')).toBe('node');
    expect(argumentOf('ENV')).toContain(`SANDBANK_DATA_DIR=${argumentOf('VOLUME')}`);
    expect(JSON.parse(argumentOf('ENTRYPOINT'))).toEqual(['node', 'scripts/sandbank.mjs']);
    expect(argumentOf('HEALTHCHECK')).toContain('CMD ["node"');
  });

  test('what the image holds is enough to run, and its health check tells', async () => {
    const image = join(folder, 'image');
    const held = last.filter(({ rest }) => rest.startsWith('--from=build '));
    for (const { rest } of held) {
      const paths = rest.split(' ').slice(1);
      const target = paths.pop() ?? '';
      for (const from of paths.map((path) => path.replace('/app/', ''))) {
        const to = join(image, target.endsWith('/') ? join(target, basename(from)) : target);
        // The dependencies are the real ones by a link; a copy would take as long as the test.
        if (from === 'node_modules') symlinkSync(pathOf(from), to);
        else cpSync(pathOf(from), to, { recursive: true });
      }
    }
    const port = String(await freePort());
    const env = { ...process.env, PORT: port, HOST: '127.0.0.1', SANDBANK_DATA_DIR: 'memory' };
    const health = JSON.parse(argumentOf('HEALTHCHECK').slice(argumentOf('HEALTHCHECK').indexOf('[')));
    const check = () => spawnSync(process.execPath, health.slice(1), { env }).status;
    expect(check()).toBe(1);
    const [, ...args] = [...JSON.parse(argumentOf('ENTRYPOINT')), ...JSON.parse(argumentOf('CMD'))];
    const child = spawn(process.execPath, [...testNodeArgs, ...args], {
      cwd: image,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      while (!output.includes('Sandbank is running')) {
        const [text] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
        if (typeof text !== 'string') throw new Error(`It ended: ${output}`);
      }
      expect(check()).toBe(0);
      const docs = await fetch(`http://127.0.0.1:${port}/docs`);
      expect(docs.status).toBe(200);
    } finally {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    expect(child.exitCode).toBe(0);
  });
});

describe('compose.yaml', () => {
  const compose = read('compose.yaml');

  test('runs on PostgreSQL 18, waits until it is healthy, and has every variable that the server reads', () => {
    expect(compose).toContain('image: postgres:18');
    // From 18 on the image keeps its data one folder higher.
    expect(compose).toContain('- postgres:/var/lib/postgresql\n');
    expect(compose).toMatch(/depends_on:\n\s+postgres:\n\s+condition: service_healthy/);
    expect(compose).toContain('pg_isready');
    const variables = [...compose.matchAll(/^ {6}(DATABASE_URL|SANDBANK_\w+):/gm)].map(
      ([, name]) => name ?? '',
    );
    expect(variables).toContain('SANDBANK_SECRET');
    const documented = readMarkdown().get('shared-server.md') ?? '';
    for (const name of variables) expect(documented, name).toContain(name);
  });

  test('is valid to Docker, where there is one', () => {
    if (spawnSync('docker', ['compose', 'version']).status !== 0)
      return console.warn('skipped: docker compose is not installed');
    const env = { ...process.env, POSTGRES_PASSWORD: 'p', SANDBANK_SECRET: 's'.repeat(32) };
    const { status, stderr } = spawnSync('docker', ['compose', '--file', pathOf('compose.yaml'), 'config'], {
      env,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });
});
