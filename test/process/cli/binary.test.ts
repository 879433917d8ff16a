// Behaviour that only the real binary has. The commands themselves are tested in process: test/api/cli.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signWebhook } from '../../../sdk/client.ts';
import {
  type CommandWorld,
  openCommandWorld,
  RunningCommand,
  run,
  runBinary,
  spawnBinary,
} from '../../support/command.ts';
import { freePort } from '../../support/processes.ts';

describe('the sandbank binary', () => {
  let world: CommandWorld;
  beforeAll(async () => {
    world = await openCommandWorld();
  });
  afterAll(() => world?.close());

  test('prints the same as the function that the other tests call, with the same exit code', async () => {
    const { env } = world;
    await world.json(['payments', 'create', '--minor', '100']);
    const away = { ...env, SANDBANK_URL: `http://127.0.0.1:${await freePort()}` };
    const cases: readonly (readonly [code: number, args: readonly string[], env: typeof env])[] = [
      [0, ['payments', 'list'], env],
      [0, ['payments', 'list', '--json'], env],
      [0, ['--help'], env],
      [0, ['--version'], env],
      [1, ['payments', 'get', 'pay_00000000000000000000000000'], env],
      [2, ['payments', 'list', '--colour'], env],
      [2, ['fly'], env],
      [2, ['verify', '--dtaa', '.'], env],
      [2, ['users', 'invite', '--role', 'king'], env],
      [2, ['webhooks', 'verify', '--colour'], env],
      [3, ['status'], away],
      [4, ['payments', 'list'], { SANDBANK_URL: world.url }],
    ];
    await Promise.all(
      cases.map(async ([code, args, variables]) => {
        const [binary, inProcess] = await Promise.all([
          runBinary(args, { env: variables }),
          run(args, { env: variables }),
        ]);
        // Only the request id of an error differs.
        const withoutId = (text: string) => text.replaceAll(/req_\w+/g, 'req_');
        expect(binary.code, args.join(' ')).toBe(code);
        expect(inProcess.code, args.join(' ')).toBe(code);
        expect(withoutId(binary.stdout)).toBe(withoutId(inProcess.stdout));
        expect(withoutId(binary.stderr)).toBe(withoutId(inProcess.stderr));
        expect(code === 0 ? binary.stderr : binary.stdout).toBe('');
      }),
    );
  });

  test('shows its help without arguments, and starts nothing', async () => {
    const [alone, help, version, short] = await Promise.all(
      [[], ['--help'], ['--version'], ['-v']].map((args) => runBinary(args, { env: world.env })),
    );
    expect(alone).toEqual(help);
    expect(alone).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Usage: sandbank /), stderr: '' });
    expect(short).toEqual(version);
  });

  test('reads a pipe, and exits with 0 when the reader of its output is closed', async () => {
    const piped = await runBinary(['trigger', 'payment.captured', '--data', '-', '--json'], {
      env: world.env,
      input: '{"from":"pipe"}',
    });
    expect([piped.code, JSON.parse(piped.stdout)]).toMatchObject([0, { data: { from: 'pipe' } }]);
    const child = spawnBinary(['export', '--organization', world.owner.orgId, '-'], { env: world.env });
    const ended = once(child, 'close');
    child.stdout.destroy();
    expect((await ended)[0]).toBe(0);
  });

  test('verifies a signature from the standard input', async () => {
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const { body, headers } = await signWebhook({ id: 'evt_1' }, secret);
    const flags = [
      ...['--id', headers['webhook-id'], '--timestamp', headers['webhook-timestamp']],
      ...['--signature', headers['webhook-signature']],
    ];
    const env = { SANDBANK_WEBHOOK_SECRET: secret };
    const [valid, invalid] = await Promise.all([
      runBinary(['webhooks', 'verify', ...flags], { env, input: body }),
      runBinary(['webhooks', 'verify', ...flags, '--json'], { env, input: `${body}\n` }),
    ]);
    expect([valid.code, valid.stdout]).toEqual([0, expect.stringMatching(/^Valid\./)]);
    expect([invalid.code, JSON.parse(invalid.stdout)]).toMatchObject([
      1,
      { object: 'signature_check', status: 'invalid' },
    ]);
  });

  test('stops following on either signal with exit code 0', async () => {
    const follow = async (signal: NodeJS.Signals) => {
      const tail = new RunningCommand(['events', 'tail', '--follow'], { env: world.env });
      await tail.waitForOutput(/Following/, 'stderr');
      return tail.stop(signal);
    };
    expect(await Promise.all([follow('SIGINT'), follow('SIGTERM')])).toEqual([0, 0]);
  });
});
