import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { Webhook } from 'standardwebhooks';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigProblem } from '../../src/config.ts';
import { webhooksCommand } from '../../src/webhooks-command.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-verify-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const body = '{"type":"payment.created"}';
const file = path.join(folder, 'request.json');
writeFileSync(file, body);

/** In process; test/process/cli/binary.test.ts shows its output and exit codes. */
async function run(args: readonly string[], input = '', env: Record<string, string> = withSecret) {
  const result = await webhooksCommand(args, env, Readable.from([Buffer.from(input)]));
  expect(result.output).not.toContain(secret);
  return result;
}
const withSecret = { SANDBANK_WEBHOOK_SECRET: secret };

const headersAt = (at: Date) => [
  ...['--id', 'evt_1', '--timestamp', String(Math.floor(at.getTime() / 1_000))],
  ...['--signature', new Webhook(secret).sign('evt_1', at, body)],
];

describe('sandbank webhooks verify', () => {
  it('reports a valid request, from a file or the standard input', async () => {
    const headers = headersAt(new Date());
    for (const result of [
      await run(['verify', ...headers, '--body', file]),
      await run(['verify', ...headers], body),
    ])
      expect(result).toEqual({ isValid: true, output: expect.stringMatching(/^Valid\./) });
  });

  it('says why a request is not valid, as text or as JSON', async () => {
    const headers = headersAt(new Date());
    expect(await run(['verify', ...headers], `${body}\n`)).toEqual({
      isValid: false,
      output: expect.stringMatching(/^Not valid\.[\s\S]*line break at its end/),
    });
    const { output, isValid } = await run(['verify', ...headers, '--json'], `${body} `);
    expect(isValid).toBe(false);
    expect(JSON.parse(output)).toMatchObject({ object: 'signature_check', status: 'invalid' });
  });

  it('judges an old request by the given time', async () => {
    const at = new Date('2031-03-04T10:00:00Z');
    expect((await run(['verify', ...headersAt(at)], body)).isValid).toBe(false);
    expect((await run(['verify', ...headersAt(at), '--at', at.toISOString()], body)).isValid).toBe(true);
  });

  it.each([
    ['a missing secret', ['verify', '--id', 'evt_1'], {}, /SANDBANK_WEBHOOK_SECRET/],
    ['a missing header', ['verify', '--id', 'evt_1'], withSecret, /--timestamp is missing/],
    ['an unknown flag', ['verify', '--colour'], withSecret, /--colour/],
    ['another command', ['send'], withSecret, /webhooks verify/],
    ['a malformed time', ['verify', '--at', 'noon'], withSecret, /--at must be a time/],
    [
      'a file that does not exist',
      ['verify', '--body', `${file}.gone`],
      withSecret,
      /cannot be read: ENOENT/,
    ],
  ])('refuses %s in one sentence', async (_what, args, env, reason) => {
    const failure = await run(args, body, env).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConfigProblem);
    const { message } = failure as ConfigProblem;
    expect(message).toMatch(reason);
    expect(message).toMatch(/^[^\n]+\.$/);
    expect(message).not.toContain(secret);
  });

  it('shows its flags and an example', async () => {
    expect(await run(['verify', '--help'])).toEqual({
      isValid: true,
      output: expect.stringMatching(/^Usage: [\s\S]+Example:/),
    });
  });
});
