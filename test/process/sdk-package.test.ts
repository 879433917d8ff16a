// Users get dist/: its declarations for compilers and its modules for bundlers.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importsOf } from '../tidy/imports.ts';
import { source } from '../tidy/source.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
const run = promisify(execFile);

/** Node, Deno, Bun, workers and browsers run the client. The test kit starts servers and needs Node. */
const isOfKit = (file: string) => /^(?:testing|vitest|jest)[.-]|^testing\//.test(file);

async function compile(folder: string, ...args: string[]): Promise<string> {
  return run(process.execPath, [tsc, ...args], { cwd: folder }).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
}

const program = `
import {
  ConflictError, type Payment, type PaymentStatus, Sandbank, SandbankError, type SandbankEvent, Operator, signWebhook,
} from 'sandbank/client';

const sandbank = new Sandbank({ apiKey: 'sbk_sandbox_x', baseUrl: 'http://127.0.0.1:4000' });

export async function use(signal: AbortSignal): Promise<PaymentStatus> {
  const payment: Payment = await sandbank.payments.create({ amount: 1250, currency: 'EUR' }, { idempotencyKey: 'a', signal });
  // @ts-expect-error a payment has no such state
  if (payment.status === 'paid') return 'captured';
  // @ts-expect-error amounts are numbers
  await sandbank.payments.create({ amount: '1250', currency: 'EUR' });
  // @ts-expect-error either seconds or an instant
  await sandbank.clock.advance({});
  await sandbank.clock.advance({ to: new Date() });
  for await (const one of sandbank.payments.list({ status: 'captured', createdAfter: new Date(0) })) {
    const amount: number = one.amount;
    void amount;
  }
  const page = await sandbank.payments.list();
  const cursor: string | null = page.nextCursor;
  const csv: string = await sandbank.settlements.csv('2026-11-15');
  const { data } = await sandbank.reconciliation.retrieve({ result: 'duplicate' });
  void [cursor, csv, data[0]?.difference];
  try {
    await sandbank.payments.advance(payment.id, { action: 'capture', amount: 1 }, { expand: 'ledgerEntries' });
  } catch (error) {
    if (error instanceof ConflictError) return error.allowedActions?.includes('capture') ? 'captured' : 'failed';
    if (error instanceof SandbankError && error.code === 'quote_expired') return 'expired';
  }
  return payment.status;
}

export async function receive(request: { text(): Promise<string>; headers: { get(name: string): string | null } }): Promise<string> {
  const event: SandbankEvent = await Sandbank.webhooks.verify(await request.text(), request.headers, ['whsec_AAAA']);
  switch (event.type) {
    case 'payment.captured':
      return String(event.data.amountCaptured);
    case 'transfer.sent':
      return event.data.sourceCurrency;
    // @ts-expect-error there is no such type
    case 'payment.paid':
      return '';
    default:
      return event.data.object;
  }
}

export async function watch(): Promise<void> {
  for await (const event of sandbank.events.stream({ eventTypes: ['payment.*'] })) {
    if (event.type === 'payment.created') console.log(event.data.captureMethod, event.isReplay, event.applicationId);
  }
}

export const operator = new Operator({ url: 'http://127.0.0.1:4000', token: 'x' });
export const signed = signWebhook({ id: 'evt_1' }, 'whsec_AAAA');
`;

describe('a project that uses sandbank/client', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sandbank-consumer-'));
    await mkdir(path.join(folder, 'node_modules'));
    await symlink(root, path.join(folder, 'node_modules/sandbank'), 'junction');
    await symlink(
      path.join(root, 'node_modules/@types'),
      path.join(folder, 'node_modules/@types'),
      'junction',
    );
    await symlink(
      path.join(root, 'node_modules/undici-types'),
      path.join(folder, 'node_modules/undici-types'),
      'junction',
    );
    await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(path.join(folder, 'use.ts'), program);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const node = { lib: ['es2023'], types: ['node'] };
  const browser = { lib: ['es2023', 'dom', 'dom.iterable'], types: [] };
  test.each([
    ['for Node', { module: 'nodenext', ...node }],
    [
      'for Node, exactly',
      { module: 'nodenext', exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, ...node },
    ],
    ['with a bundler', { module: 'esnext', moduleResolution: 'bundler', ...node }],
    ['with a bundler for browsers', { module: 'esnext', moduleResolution: 'bundler', ...browser }],
  ])('is checked by the strict compiler %s', async (_name, options) => {
    const compilerOptions = { strict: true, skipLibCheck: false, noEmit: true, target: 'es2023', ...options };
    await writeFile(
      path.join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['use.ts'] }),
    );
    expect(await compile(folder, '-p', 'tsconfig.json')).toBe('');
  });
});

describe('the shipped package', () => {
  const built = path.join(root, 'dist/sdk');

  test('imports nothing but its own files: no package, no part of Node, no server', async () => {
    const seen = new Set<string>();
    const waiting = [path.join(built, 'client.js')];
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      if (seen.has(file)) continue;
      seen.add(file);
      const text = await readFile(file, 'utf8');
      for (const { specifier } of importsOf(source(path.relative(root, file), text))) {
        expect(specifier, file).toMatch(/^\.\.?\/[\w/-]+\.js$/);
        const target = path.resolve(path.dirname(file), specifier ?? '');
        expect(path.relative(built, target), file).not.toMatch(/^\.\./);
        waiting.push(target);
      }
    }
    expect(seen.size).toBeGreaterThan(1);
  });

  test('has declarations that name existing files', async () => {
    const files = (await readdir(built, { recursive: true })).filter((file) => file.endsWith('.d.ts'));
    for (const file of files) {
      const text = await readFile(path.join(built, file), 'utf8');
      for (const [, specifier = ''] of text.matchAll(/(?:from|import\() ?['"]([^'"]+)['"]/g)) {
        // The test kit starts servers and runs only on Node.
        if (isOfKit(file) && /^(?:node:|vitest)/.test(specifier)) continue;
        // Compilers resolve `./errors.ts` in a declaration to `errors.d.ts`.
        const target = path.resolve(built, path.dirname(file), specifier.replace(/\.ts$/, '.d.ts'));
        expect(specifier.startsWith('.') && existsSync(target), `${file}: ${specifier}`).toBe(true);
      }
    }
  });

  test('runs in a process without the rest of the package', async () => {
    const code = `const { Sandbank, SignatureError } = await import(process.argv[1]);
      const sandbank = new Sandbank({ apiKey: 'sbk_sandbox_x', baseUrl: 'http://127.0.0.1:9' });
      await sandbank.webhooks.verify('{}', {}, 'whsec_AAAA').catch((error) => console.log(error instanceof SignatureError, error.check));`;
    const file = new URL('../../dist/sdk/client.js', import.meta.url).href;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code, file]);
    expect(stdout.trim()).toBe('true headers');
  });
});

test('only the test kit sources need Node types', async () => {
  expect(await compile(root, '-p', 'sdk/tsconfig.json')).toBe('');
  const { exclude } = JSON.parse(await readFile(path.join(root, 'sdk/tsconfig.json'), 'utf8')) as {
    exclude: string[];
  };
  expect(exclude.every((pattern) => isOfKit(pattern))).toBe(true);
  const files = (await readdir(path.join(root, 'sdk'), { recursive: true })).filter((file) =>
    file.endsWith('.ts'),
  );
  for (const file of files.filter((one) => !isOfKit(one))) {
    const text = await readFile(path.join(root, 'sdk', file), 'utf8');
    for (const { specifier } of importsOf(source(`sdk/${file}`, text)))
      expect(specifier, file).toMatch(/^\./);
  }
});
