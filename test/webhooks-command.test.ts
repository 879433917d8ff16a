import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { afterAll, describe, expect, it } from 'vitest';

const main = fileURLToPath(new URL('../dist/src/main.js', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-verify-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const body = '{"type":"payment.created"}';
const file = path.join(folder, 'request.json');
writeFileSync(file, body);

/** The command as a person runs it. */
async function run(
  args: readonly string[],
  input = '',
  env: Record<string, string> = { SANDBANK_WEBHOOK_SECRET: secret },
) {
  const script = `await (await import(${JSON.stringify(main)})).main(process.argv.slice(1));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, '--', 'webhooks', ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
  });
  child.stdin.end(input);
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  expect(stdout + stderr).not.toContain(secret);
  return { stdout, stderr, code };
}

const headersAt = (at: Date) => [
  ...['--id', 'evt_1', '--timestamp', String(Math.floor(at.getTime() / 1_000))],
  ...['--signature', new Webhook(secret).sign('evt_1', at, body)],
];

describe('sandbank webhooks verify', () => {
  it('says that a request is valid, from a file or the standard input, and ends with 0', async () => {
    const headers = headersAt(new Date());
    for (const { stdout, code } of [
      await run(['verify', ...headers, '--body', file]),
      await run(['verify', ...headers], body),
    ])
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^Valid\./)]);
  });

  it('says why one is not, in words or as JSON, and ends with 1', async () => {
    const headers = headersAt(new Date());
    const words = await run(['verify', ...headers], `${body}\n`);
    expect([words.code, words.stdout]).toEqual([
      1,
      expect.stringMatching(/^Not valid\.[\s\S]*line break at its end/),
    ]);
    const { stdout, code } = await run(['verify', ...headers, '--json'], `${body} `);
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { object: 'signature_check', status: 'invalid' }]);
  });

  it('judges an old request by the time it is told', async () => {
    const at = new Date('2031-03-04T10:00:00Z');
    expect((await run(['verify', ...headersAt(at)], body)).code).toBe(1);
    expect((await run(['verify', ...headersAt(at), '--at', at.toISOString()], body)).code).toBe(0);
  });

  it.each([
    ['a missing secret', ['verify', '--id', 'evt_1'], {}, /SANDBANK_WEBHOOK_SECRET/],
    ['a missing header', ['verify', '--id', 'evt_1'], undefined, /--timestamp is missing/],
    ['an unknown flag', ['verify', '--colour'], undefined, /--colour/],
    ['another command', ['send'], undefined, /webhooks verify/],
    ['a time that is none', ['verify', '--at', 'noon'], undefined, /--at must be a time/],
    ['a file that is not there', ['verify', '--body', `${file}.gone`], undefined, /cannot be read: ENOENT/],
  ])('refuses %s in a sentence', async (_what, args, env, words) => {
    const { stdout, stderr, code } = await run(args, body, env);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(words)]);
    expect(stderr).toMatch(/^Nothing was verified\. [^\n]+\n$/);
  });

  it('shows its flags and an example', async () => {
    const { stdout, code } = await run(['verify', '--help']);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Usage: [\s\S]+Example:/)]);
  });
});
