/**
 * The two packages as users install them: packed, installed from an empty cache into an empty folder, and used there. `npm run release` runs it too.
 * SANDBANK_SMOKE_NODE names another Node binary to run them with.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData, type Problem } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { watchProcess } from '../support/failure-report.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TSC = path.join(ROOT, 'node_modules/typescript/bin/tsc');
const NODE = process.env.SANDBANK_SMOKE_NODE ?? process.execPath;
const run = promisify(execFile);

const { NODE_OPTIONS: _options, VITEST: _vitest, SANDBANK_API_KEY: _key, ...inherited } = process.env;
const work = mkdtempSync(path.join(tmpdir(), 'sandbank-package-'));
/** A release has packed them already. */
const tarballs = process.env.SANDBANK_SMOKE_TARBALLS ?? path.join(work, 'tarballs');

beforeAll(async () => {
  if (process.env.SANDBANK_SMOKE_TARBALLS !== undefined) return;
  await run(process.execPath, [path.join(ROOT, 'scripts/pack.mjs'), tarballs], { env: inherited });
});
afterAll(() => rmSync(work, { recursive: true, force: true, maxRetries: 5 }));

function tarballOf(name: string): string {
  const file = readdirSync(tarballs).find((one) => new RegExp(`^${name}-\\d.*\\.tgz$`).test(one));
  if (file === undefined) throw new Error(`Package ${name} not found.`);
  return path.join(tarballs, file);
}

/** A user's project with one installed package. */
class Project {
  readonly folder: string;

  constructor(name: string) {
    this.folder = path.join(work, name);
    mkdirSync(this.folder);
    this.write('package.json', JSON.stringify({ name, version: '1.0.0', private: true }));
  }

  write(file: string, text: string): void {
    writeFileSync(path.join(this.folder, file), text);
  }

  /** Returns the output of npm. */
  async install(tarball: string): Promise<string> {
    const cache = path.join(this.folder, '.cache');
    const args = ['install', tarball, '--cache', cache, '--no-audit', '--no-fund'];
    const { stdout, stderr } = await run('npm', args, { cwd: this.folder, env: inherited });
    rmSync(cache, { recursive: true, force: true });
    return `${stdout}${stderr}`;
  }

  async node(...args: string[]): Promise<string> {
    const { stdout } = await run(NODE, args, { cwd: this.folder, env: inherited });
    return stdout.trim();
  }

  sandbank(...args: string[]): Promise<string> {
    return this.node('node_modules/sandbank/scripts/sandbank.mjs', ...args);
  }

  /** The compiler errors in `file` with the strict settings of a Node project. */
  async compile(file: string): Promise<string> {
    const types = path.join(ROOT, 'node_modules/@types');
    const flags = '--strict --noEmit --module nodenext --target es2023 --skipLibCheck false --types node';
    return run(process.execPath, [TSC, file, ...flags.split(' '), '--typeRoots', types], {
      cwd: this.folder,
    }).then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );
  }

  installed(): { packages: number; megabytes: number } {
    const modules = path.join(this.folder, 'node_modules');
    const lock = JSON.parse(readFileSync(path.join(modules, '.package-lock.json'), 'utf8')) as {
      packages: object;
    };
    const bytes = readdirSync(modules, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, entry) => sum + statSync(path.join(entry.parentPath, entry.name)).size, 0);
    return { packages: Object.keys(lock.packages).length, megabytes: bytes / 1e6 };
  }
}

async function filesOf(tarball: string): Promise<string[]> {
  const { stdout } = await run('tar', ['tzf', tarball], { maxBuffer: 1e8 });
  return stdout
    .trim()
    .split('\n')
    .map((file) => file.replace(/^package\//, ''));
}

/** TypeScript 7 has no `node10` resolution any more. Vitest itself is an ES module only, so its fixtures are too. */
const isProblem = (one: Problem): boolean =>
  !('resolutionKind' in one && one.resolutionKind === 'node10') &&
  !('entrypoint' in one && one.entrypoint.startsWith('./vitest') && one.kind === 'CJSResolvesToESM');

describe.each(['sandbank', 'sandbank-client'])('the package %s', (name) => {
  test('has no findings of package linters', async () => {
    const tarball = readFileSync(tarballOf(name));
    const copy = new Uint8Array(tarball).buffer;
    const { messages, pkg } = await publint({ pack: { tarball: copy } });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
    const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)));
    const problems = analysis.types ? analysis.problems.filter(isProblem) : ['no types'];
    expect(problems).toEqual([]);
  });

  test('has neither sources, tests, pictures nor maps', async () => {
    const files = await filesOf(tarballOf(name));
    const unwanted = /\.(map|png|tsx)$|(?<!\.d)\.ts$|\.test\.|(^|\/)(test|bench|node_modules)\/|\.stamp$/;
    expect(files.filter((file) => unwanted.test(file))).toEqual([]);
    expect(files).toEqual(expect.arrayContaining(['package.json', 'README.md', 'LICENSE']));
  });
});

describe('a project that installs sandbank', () => {
  let project: Project;
  beforeAll(async () => {
    project = new Project('shop');
    const begun = performance.now();
    const output = await project.install(tarballOf('sandbank'));
    const seconds = (performance.now() - begun) / 1_000;
    const { packages, megabytes } = project.installed();
    const figures = `${packages} packages, ${megabytes.toFixed(0)} MB, ${seconds.toFixed(1)} s`;
    process.stdout.write(`installed sandbank: ${figures}\n`);
    expect(output).not.toMatch(/EBADENGINE|deprecated|vulnerabilit/);
    expect(packages).toBeLessThanOrEqual(10);
    expect(megabytes).toBeLessThanOrEqual(75);
  });

  test('starts a server, which the command line finds', async () => {
    const args = ['node_modules/sandbank/scripts/sandbank.mjs', 'start', '--port', '0'];
    const child = spawn(NODE, args, {
      cwd: project.folder,
      env: inherited,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let logs = '';
    watchProcess({ name: 'sandbank start', child, logs: () => logs });
    const ended = once(child, 'close');
    const url = await new Promise<string>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          logs += text;
          const found = /Create a payment:[\s\S]*?(http:\/\/127\.0\.0\.1:\d+)/.exec(logs);
          if (found?.[1] !== undefined) resolve(found[1]);
        });
      void ended.then(() => reject(new Error(logs)));
    });
    try {
      for (const page of ['/docs', '/docs/quick-start', '/console', '/openapi.json'])
        expect((await fetch(url + page)).status, page).toBe(200);
      const payment = JSON.parse(
        await project.sandbank('payments', 'create', '--amount', '12.50', '--currency', 'EUR', '--json'),
      ) as { id: string; amount: number };
      expect(payment).toMatchObject({ object: 'payment', sandbox: true, amount: 1250 });
      expect(await project.sandbank('payments', 'list')).toContain(payment.id);
      const findings = await project.sandbank('doctor');
      expect(findings).not.toMatch(/^(warn|fail)/m);
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
    expect(child.exitCode, logs).toBe(0);
  });

  test('tests against it, as an ES module and as CommonJS', async () => {
    const program = `
      const server = await startSandbank();
      const tenant = await server.tenant({ clock: 'frozen' });
      const payment = await tenant.client.payments.create({ amount: 1250, currency: 'EUR' });
      const isSame = tenant.client instanceof Sandbank;
      console.log(payment.status, isSame);
      await server.close();`;
    const imports = `import { Sandbank } from 'sandbank';
      import { startSandbank } from 'sandbank/testing';`;
    project.write('use.mjs', `${imports}${program}`);
    const requires = `const { Sandbank } = require('sandbank/client');
      const { startSandbank } = require('sandbank/testing');`;
    project.write('use.cjs', `${requires}(async () => {${program}})();`);
    expect(await project.node('use.mjs')).toBe('pending true');
    expect(await project.node('use.cjs')).toBe('pending true');
  });

  test('gets a first test from init, and it passes', async () => {
    const { files } = JSON.parse(await project.sandbank('init', '--json')) as {
      files: { path: string; outcome: string }[];
    };
    const first = files.find(({ path: file }) => file.endsWith('.test.mjs'))?.path ?? '';
    expect(await project.node('--test', '--test-reporter=tap', first)).toMatch(/# pass 1\b/);
    const seed = JSON.parse(readFileSync(path.join(project.folder, 'sandbank.seed.json'), 'utf8')) as {
      $schema: string;
    };
    expect(existsSync(path.join(project.folder, seed.$schema)), seed.$schema).toBe(true);
  });

  test('compiles, as an ES module and as CommonJS', async () => {
    const program = `
import { Sandbank, type Payment } from 'sandbank';
import { verifyWebhook } from 'sandbank/client';
import { startSandbank } from 'sandbank/testing';

export async function use(): Promise<Payment> {
  const server = await startSandbank();
  const { client } = await server.tenant();
  const sandbank: Sandbank = client;
  // @ts-expect-error amounts are numbers
  await sandbank.payments.create({ amount: '1', currency: 'EUR' });
  void verifyWebhook;
  return sandbank.payments.create({ amount: 1, currency: 'EUR' });
}
`;
    for (const file of ['use.mts', 'use.cts']) {
      project.write(file, program);
      expect(await project.compile(file), file).toBe('');
    }
  });
});

describe('a project that installs sandbank-client', () => {
  let project: Project;
  beforeAll(async () => {
    project = new Project('receiver');
    await project.install(tarballOf('sandbank-client'));
    expect(project.installed().packages).toBe(1);
  });

  test('has no more than 10 kB of code to load, compressed', () => {
    for (const format of ['esm', 'cjs']) {
      const file = path.join(project.folder, 'node_modules/sandbank-client', format, 'client.js');
      expect(gzipSync(readFileSync(file), { level: 9 }).length, format).toBeLessThan(10_000);
    }
  });

  test('verifies webhooks, as an ES module and as CommonJS', async () => {
    const program = `
      const secret = 'whsec_' + Buffer.alloc(24, 7).toString('base64');
      const signed = await signWebhook({ id: 'evt_1', type: 'payment.captured' }, secret);
      const event = await Sandbank.webhooks.verify(signed.body, signed.headers, secret);
      const refused = await Sandbank.webhooks.verify(signed.body + ' ', signed.headers, secret).catch((error) => error);
      console.log(event.id, refused instanceof SignatureError, refused.name);`;
    project.write(
      'use.mjs',
      `import { Sandbank, SignatureError, signWebhook } from 'sandbank-client';${program}`,
    );
    project.write(
      'use.cjs',
      `const { Sandbank, SignatureError, signWebhook } = require('sandbank-client');(async () => {${program}})();`,
    );
    expect(await project.node('use.mjs')).toBe('evt_1 true SignatureError');
    expect(await project.node('use.cjs')).toBe('evt_1 true SignatureError');
  });

  test('compiles, as an ES module and as CommonJS', async () => {
    const program = `import { Sandbank, type SandbankEvent } from 'sandbank-client';
export const read = (body: string, headers: Headers): Promise<SandbankEvent> =>
  Sandbank.webhooks.verify(body, headers, 'whsec_AAAA');
`;
    for (const file of ['use.mts', 'use.cts']) {
      project.write(file, program);
      expect(await project.compile(file), file).toBe('');
    }
  });
});
