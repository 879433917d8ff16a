import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withField } from '../../../cli/json-data.ts';
import { type CommandWorld, openCommandWorld, run } from '../../support/command.ts';
import { freePort } from '../../support/processes.ts';
import { tenant } from '../../support/tenant.ts';

interface JsonOutput {
  readonly id: string;
  readonly [field: string]: unknown;
}

describe('clock, events and logs from the command line', () => {
  let world: CommandWorld;
  let folder: string;
  beforeAll(async () => {
    world = await openCommandWorld();
    folder = await mkdtemp(join(tmpdir(), 'sandbank-live-'));
  });
  afterAll(async () => {
    await world?.close();
    await rm(folder, { recursive: true, force: true });
  });

  test('clock advance shows the effects that fell due', async () => {
    const { json } = world;
    const { id } = await json<JsonOutput>(['payments', 'create', '--minor', '100', '--auto-advance']);
    const advanced = await json<{ happened: JsonOutput[]; complete: boolean; offsetSeconds: number }>([
      'clock',
      'advance',
      '10d',
    ]);
    expect(advanced).toMatchObject({ object: 'clock', complete: true });
    // The clock is running, so whole seconds may have passed.
    expect(Math.abs(advanced.offsetSeconds - 864_000)).toBeLessThan(60);
    expect(advanced.happened.map((one) => one.id)).toContain(id);
    const output = await world.sandbank('clock', 'show');
    expect(output.stdout).toMatch(/^now +\S+\nstatus +running\nahead +(10d 0h 0m 0s|9d 23h 59m \d+s)\n$/);
    expect(await json(['clock', 'freeze'])).toMatchObject({ status: 'frozen' });
    const to = new Date(Date.now() + 30 * 86_400_000).toISOString();
    expect(await json(['clock', 'advance', '--to', to])).toMatchObject({ now: to });
    expect(await json(['clock', 'reset'])).toMatchObject({ offsetSeconds: 0 });
    for (const args of [
      ['clock', 'advance'],
      ['clock', 'advance', 'soon'],
      ['clock', 'advance', '1d', '--to', to],
    ])
      expect((await world.sandbank(...args)).code).toBe(2);
  });

  test('clock advance reports the next scheduled step and an endpoint that was disabled', async () => {
    const { owner } = world;
    const alone = { ...world.env, SANDBANK_API_KEY: (await tenant(world.server)).key };
    const advance = async (span: string) => (await run(['clock', 'advance', span], { env: alone })).stdout;
    expect(await advance('1h')).toMatch(/^Nothing was due\.\n[\s\S]*\nnext +nothing is scheduled\n$/);
    const create = ['payments', 'create', '--minor', '100', '--capture', 'manual', '--json'];
    const { id } = JSON.parse((await run(create, { env: alone })).stdout) as JsonOutput;
    await run(['payments', 'advance', id, 'authorize'], { env: alone });
    expect(await advance('1d')).toMatch(
      new RegExp(`^Nothing was due\\.\n[\\s\\S]*\nnext +${id} at \\S+Z, in (5d 23h|6d 0h) \\d+m \\d+s\n$`),
    );
    const down = `http://127.0.0.1:${await freePort()}/`;
    const { body } = await owner.client.post('developer_api_webhooks', { url: down });
    await world.json(['customers', 'create', '--name', 'Ada']);
    const first = await world.sandbank('clock', 'advance', '6d');
    expect([first.stdout, first.stderr]).toEqual([
      expect.stringMatching(/delivery +dlv_\w+ +attempt +failed/),
      '',
    ]);
    await world.json(['customers', 'create', '--name', 'Grace']);
    const ran = await world.sandbank('clock', 'advance', '1d');
    expect(ran.stderr).toBe(
      `${down} is disabled (failing). Run "sandbank webhooks enable ${body.id}" to send its held events.\n`,
    );
    expect(await world.json(['webhooks', 'enable', body.id])).toMatchObject({ status: 'enabled' });
  });

  test('trigger sends the example, with changed fields, or with data from a file or standard input', async () => {
    const { json } = world;
    const changed = await json<{ data: JsonOutput }>([
      'trigger',
      'payment.failed',
      '--override',
      'failure.code=expired_card',
      '--override',
      'amount=999',
    ]);
    expect(changed).toMatchObject({
      object: 'event',
      type: 'payment.failed',
      data: { object: 'payment', amount: 999, failure: { code: 'expired_card' } },
    });
    const file = join(folder, 'data.json');
    writeFileSync(file, '{"from":"file"}');
    expect(await json(['trigger', 'payment.captured', '--data', `@${file}`])).toMatchObject({
      data: { from: 'file' },
    });
    const piped = await run(['trigger', 'payment.captured', '--data', '-', '--json'], {
      env: world.env,
      input: '{"from":"pipe"}',
    });
    expect(JSON.parse(piped.stdout)).toMatchObject({ data: { from: 'pipe' } });
    const catalogue = await json<{ data: { type: string }[] }>(['trigger', '--list']);
    expect(catalogue.data.map(({ type }) => type)).toContain('dispute.won');
    expect((await world.sandbank('trigger', '--list')).stdout).toMatch(/^TYPE +DESCRIPTION\n/);
    expect((await world.sandbank('trigger')).code).toBe(2);
    expect((await world.sandbank('trigger', 'payment.failed', '--data', '[1]')).code).toBe(2);
    expect((await world.sandbank('trigger', 'payment.exploded')).code).toBe(2);
  });

  test('sets fields in objects and lists on a copy, without changing the data', () => {
    const data = { a: { b: [1, { c: 2 }] } };
    expect(withField(data, 'a.b.1.c', 3)).toEqual({ a: { b: [1, { c: 3 }] } });
    expect(withField(data, 'x.y', null)).toEqual({ ...data, x: { y: null } });
    expect(data).toEqual({ a: { b: [1, { c: 2 }] } });
    expect(() => withField(data, '__proto__.x', 1)).toThrow();
  });

  test('lists the audit log by record, including rejections, and verifies it', async () => {
    const payment = await world.json<JsonOutput>(['payments', 'create', '--minor', '100']);
    const refused = await world.sandbank('payments', 'refund', payment.id, '--minor', '1');
    expect(refused.code).toBe(1);
    const { data } = await world.json<{ data: JsonOutput[] }>(['audit', 'list', '--record', payment.id]);
    expect(data.map(({ action, outcome, code }) => ({ action, outcome, code }))).toEqual([
      { action: 'payments.refund', outcome: 'refused', code: 'invalid_state_transition' },
      { action: 'payments.create', outcome: 'accepted', code: null },
    ]);
    const text = await world.sandbank('audit', 'list', '--record', payment.id, '--outcome', 'refused');
    expect(text.stdout).toMatch(
      new RegExp(
        `^AT +ACTOR +ACTION +RECORD +OUTCOME\\n\\S+ +.+ payments.refund +${payment.id} +invalid_state_transition\\n$`,
      ),
    );
    expect((await world.sandbank('audit', 'list', '--outcome', 'maybe')).code).toBe(2);
    expect(await world.json(['audit', 'verify'])).toMatchObject({
      object: 'audit_verification',
      status: 'intact',
    });
    expect((await world.sandbank('audit', 'verify')).stdout).toMatch(/^audit trail +intact\n/);
  });
});
