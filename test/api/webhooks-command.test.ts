import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, describe, expect, it } from 'vitest';
import { run as runCommand } from '../support/command.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-verify-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const body = '{"type":"payment.created"}';
const file = path.join(folder, 'request.json');
writeFileSync(file, body);

const withSecret = { SANDBANK_WEBHOOK_SECRET: secret };

async function run(args: readonly string[], input = '', env: Record<string, string> = withSecret) {
  const result = await runCommand(['webhooks', 'verify', ...args], { env, input });
  expect(result.stdout + result.stderr).not.toContain(secret);
  return result;
}

const headersAt = (at: Date) => [
  ...['--id', 'evt_1', '--timestamp', String(Math.floor(at.getTime() / 1_000))],
  ...['--signature', new Webhook(secret).sign('evt_1', at, body)],
];

describe('sandbank webhooks verify', () => {
  it('reports a valid request, from a file or from standard input', async () => {
    const headers = headersAt(new Date());
    for (const result of [await run([...headers, '--body', file]), await run(headers, body)])
      expect(result).toEqual({ code: 0, stdout: expect.stringMatching(/^Valid\./), stderr: '' });
  });

  it('explains why a request is not valid, as text or as JSON, with exit code 1', async () => {
    const headers = headersAt(new Date());
    expect(await run(headers, `${body}\n`)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^Not valid\.[\s\S]*ends with a line break/),
    });
    const { code, stdout } = await run([...headers, '--json'], `${body} `);
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { object: 'signature_check', status: 'invalid' }]);
  });

  it('checks the timestamp of an old request against the given time', async () => {
    const at = new Date('2031-03-04T10:00:00Z');
    expect((await run(headersAt(at), body)).code).toBe(1);
    expect((await run([...headersAt(at), '--at', at.toISOString()], body)).code).toBe(0);
  });

  it.each<[string, readonly string[], Record<string, string>, RegExp]>([
    ['a missing secret', ['--id', 'evt_1'], {}, /SANDBANK_WEBHOOK_SECRET/],
    ['a missing header', ['--id', 'evt_1'], withSecret, /--timestamp is missing/],
    ['a mistyped option', ['--signatur', 'x'], withSecret, /--signatur'\. Did you mean --signature\?/],
    [
      'a malformed time',
      ['--at', 'noon'],
      withSecret,
      /"noon" is not a valid value for --at\. It must be a time/,
    ],
  ])('exits with 2 and prints one line for %s', async (_name, args, env, reason) => {
    const { code, stdout, stderr } = await run(args, body, env);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(reason);
    expect(stderr).toMatch(/^Error: [^\n]+\.\n$/);
  });

  it('names a file that does not exist', async () => {
    const { code, stderr } = await run([...headersAt(new Date()), '--body', `${file}.gone`]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^Error: ENOENT.*request\.json\.gone/)]);
  });
});
