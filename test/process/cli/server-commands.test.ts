// `start`, `verify` and `users` of the real binary, and the commands that find their server through its data directory.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { RunningCommand, run, runBinary } from '../../support/command.ts';

describe('the server commands of the sandbank binary', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sandbank-project-'));
  const data = join(directory, '.sandbank');
  let server: RunningCommand | undefined;
  afterEach(() => server?.kill());
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test('reject wrong settings in one line, with exit code 2 for wrong usage', async () => {
    const rejections: readonly (readonly [args: readonly string[], code: number, stderr: RegExp])[] = [
      [
        ['start', '--port', 'http'],
        2,
        /^Error: Sandbank did not start\. The port must be a number from 0 to 65535, not "http"\.\n$/,
      ],
      [['start', '--prot', '1'], 2, /^Error: Unknown option '--prot'\. Did you mean --port\?.*\n$/],
      [
        ['start', '--role', 'wroker'],
        2,
        /^Error: "wroker" is not a valid value for --role\. Did you mean worker\?\n$/,
      ],
      [['--prot', '1'], 2, /^Error: Unknown option '--prot'\..*\n$/],
      [
        ['verify', '--data', join(directory, 'none')],
        1,
        /^Error: Nothing was verified\. There is no database in .*\n$/,
      ],
      [['users', 'remove'], 2, /^Error: Unknown command 'remove'\..*\n$/],
    ];
    const results = await Promise.all(rejections.map(([args]) => runBinary(args)));
    for (const [at, result] of results.entries()) {
      const [, code, stderr] = rejections[at] ?? [];
      expect(result).toEqual({ code, stdout: '', stderr: expect.stringMatching(stderr ?? /^$/) });
    }
  });

  test('start serves the commands of its folder without settings, and after the stop none of them works', async () => {
    server = new RunningCommand(['start', '--port', '0'], { directory });
    await server.waitForOutput(/Console +http/);
    const inFolder = (...args: string[]) => run(args, { directory });
    const created = await inFolder('payments', 'create', '--amount', '12.50', '--json');
    expect([created.code, JSON.parse(created.stdout)]).toMatchObject([
      0,
      { object: 'payment', amount: 1250 },
    ]);
    expect((await inFolder('organizations', 'list')).stdout).toMatch(/Demo/);
    expect((await inFolder('doctor')).code).toBe(0);
    const inUse = await inFolder('migrate', '--data', data);
    expect([inUse.code, inUse.stderr]).toEqual([1, expect.stringMatching(/is in use by process \d+/)]);
    expect(await server.stop('SIGTERM')).toBe(0);
    expect((await inFolder('status')).code).toBe(4);

    // The options of all commands may precede the command.
    server = new RunningCommand(['--no-color', 'start', '--port', '0', '--data', data]);
    await server.waitForOutput(/Sandbank is running/);
    expect(await server.stop('SIGINT')).toBe(0);

    const [invited, verified] = [
      await runBinary(['users', 'invite', '--organization', 'Demo', '--data', data]),
      await runBinary(['verify', '--data', data, '--json']),
    ];
    expect([invited.code, invited.stdout]).toEqual([
      0,
      expect.stringMatching(/^http:\/\/127\.0\.0\.1:4000\/console\/invitation\//),
    ]);
    expect([verified.code, JSON.parse(verified.stdout)]).toMatchObject([
      0,
      { object: 'verification', status: 'sound' },
    ]);
  });
});
