// Usage errors of every command, the same as text and as JSON, and the colours of the output.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { choicesOf } from '../../../cli/declare.ts';
import { Output } from '../../../cli/output.ts';
import { showPage } from '../../../cli/paging.ts';
import { type CommandWorld, openCommandWorld, run } from '../../support/command.ts';
import { leaves } from './tree.ts';

describe('wrong usage', () => {
  const cases: readonly (readonly [args: readonly string[], message: string])[] = [
    [['fly'], "Unknown command 'fly'."],
    [['payment', 'list'], 'Did you mean payments?'],
    [['payments', 'lst'], 'Did you mean list?'],
    [['payments', 'create', '--amout', '1'], 'Did you mean --amount?'],
    [['payments', 'list', '--limit', '1000'], '"1000" is not a valid value for --limit.'],
    [['payments', 'list', '--limit'], "Option '--limit <count>' argument missing."],
    [['payments', 'list', 'extra'], 'Too many arguments'],
    [['payments', 'get'], "Missing required argument 'id'."],
    [['payments', 'list', '--status', 'capturd'], 'Did you mean captured?'],
    [['payments', 'advance', 'pay_1', 'captur'], '"captur" is not a valid action. Did you mean capture?'],
    [['payments', 'advance', 'pay_1', '--to', 'setled'], 'Did you mean settled?'],
    [['payments', 'create', '--minor', '1', '--scenario', 'aprove'], 'Did you mean approve?'],
    [
      ['payments', 'create', '--minor', '1', '--currency', 'EURO'],
      '"EURO" is not a valid value for --currency.',
    ],
    [
      ['transfers', 'create', '--scenario', 'retrn:closed'],
      '"retrn:closed" is not a valid value for --scenario.',
    ],
    [['trigger', 'payment.captued'], 'Did you mean payment.captured?'],
    [['listen', '--events', 'payment.captured,paymnt.*'], 'Did you mean payment.*?'],
    [['settlments'], 'Did you mean settlements?'],
    [['refunds', 'list', '--status', 'pendng'], 'Did you mean pending?'],
    [['refunds', 'advance', 'rfd_1', 'suceed'], 'Did you mean succeed?'],
    [['disputes', 'advance', 'dsp_1', '--to', 'lots'], 'Did you mean lost?'],
    [['deliveries', 'list', '--type', 'payment.captued'], 'Did you mean payment.captured?'],
    [['webhooks', 'update', 'whk_1', '--events', 'paymnt.*'], 'Did you mean payment.*?'],
    [['webhooks', 'update', 'whk_1', '--retry-profile', 'fasst'], 'Did you mean fast?'],
    [['replays', 'create', '--from', '1h', '--select', 'faild'], 'Did you mean failed?'],
    [['reconciliation', '--result', 'matchd'], 'Did you mean matched?'],
    [['rates', '--from', 'EURO'], '"EURO" is not a valid value for --from.'],
    [['payments', 'provider-events', 'pay_1', '--outcome', 'aplied'], 'Did you mean applied?'],
    [['customers', 'update', 'cus_1', '--clear', 'emial'], 'Did you mean email?'],
    [['state-machines', 'payments'], 'Did you mean payment?'],
    [['open', 'consle'], 'Did you mean console?'],
    [['post', 'payments', '--dta', 'amount=1'], 'Did you mean --data?'],
    [['clock', 'advance', '7x'], '"7x" is not a valid duration.'],
    [['payments'], 'A command is missing after "sandbank payments".'],
    [['verify', '--dta', 'x'], 'Did you mean --data?'],
    [['users', 'invite', '--role', 'admn'], 'Did you mean admin?'],
    [['webhooks', 'verify', '--signatur', 'x'], 'Did you mean --signature?'],
    [['migrate', '--stats'], 'Did you mean --status?'],
  ];

  test.each(cases)(
    '%j exits with 2, and --json prints the same message as an object',
    async (args, message) => {
      const [plain, json] = await Promise.all([run(args), run([...args, '--json'])]);
      expect([plain.code, plain.stdout]).toEqual([2, '']);
      expect(plain.stderr).toContain(message);
      expect(json.code).toBe(2);
      expect(JSON.parse(json.stdout)).toEqual({
        object: 'error',
        sandbox: true,
        status: 'error',
        error: { code: 'wrong_usage', message: expect.stringContaining(message) },
      });
    },
  );

  test('an unknown option of any command exits with 2', async () => {
    const paths = leaves().filter(({ path }) => path !== 'start');
    const codes = await Promise.all(
      paths.map(async ({ path }) => [path, (await run([...path.split(' '), '--no-such-option'])).code]),
    );
    expect(codes).toEqual(paths.map(({ path }) => [path, 2]));
  });

  test('every state, event type, action, outcome and result is a closed set', () => {
    const open = leaves().flatMap(({ path, command }) => [
      ...command.options
        .filter((option) => /<(state|types?|outcome|result)>/.test(option.flags) && !choicesOf(option))
        .map(({ flags }) => `${path} ${flags}`),
      ...command.registeredArguments
        .filter(
          (one) => ['action', 'type', 'resource', 'fault', 'shell'].includes(one.name()) && !choicesOf(one),
        )
        .map((one) => `${path} <${one.name()}>`),
    ]);
    expect(open).toEqual([]);
  });

  test('accepts values that cannot be enumerated', async () => {
    const { code, stderr } = await run([
      'transfers',
      'create',
      '--send',
      '1.00',
      '--scenario',
      'return:closed',
    ]);
    expect([code, stderr]).toEqual([4, expect.stringContaining('There is no API key')]);
  });
});

describe('an API error', () => {
  let world: CommandWorld;
  beforeAll(async () => {
    world = await openCommandWorld();
  });
  afterAll(() => world?.close());

  test('shows every validation error, one on each line', async () => {
    const { code, stderr } = await world.sandbank(
      'customers',
      'create',
      '--name',
      '',
      '--email',
      'nobody',
      '--phone',
      '',
    );
    expect(code).toBe(1);
    const lines = stderr.split('\n');
    expect(lines[0]).toMatch(/^Error: \/\w+ .*\(invalid_request, 4\d\d\)$/);
    const shown = ['/name', '/email', '/phone'].filter((param) =>
      lines.some((line) => new RegExp(`^(Error:|  also    ) ${param} `).test(line)),
    );
    expect(shown).toEqual(['/name', '/email', '/phone']);
    expect(stderr).not.toContain('details');
  });
});

describe('colours', () => {
  const hasColours = async (
    isTTY: boolean,
    env: Record<string, string>,
    isColoured = true,
  ): Promise<boolean> => {
    let text = '';
    const sink = { isTTY, write: (more: string) => (text += more) };
    const out = new Output({ stdout: sink, stderr: sink, isJson: false, isColoured, env });
    const page = { data: ['captured'], hasMore: false, nextCursor: null };
    await showPage(out, Promise.resolve(page), ['STATUS'], (status) => [status]);
    expect(text.replaceAll(new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g'), '')).toBe(
      'STATUS\ncaptured\n',
    );
    return text.includes('\u001b[32mcaptured');
  };

  test.each<[boolean, boolean, Record<string, string>, boolean?]>([
    [true, true, {}],
    [false, false, {}],
    [false, true, { NO_COLOR: '1' }],
    [true, true, { NO_COLOR: '' }],
    [false, true, { TERM: 'dumb' }],
    [false, true, {}, false],
    [true, false, { FORCE_COLOR: '1' }],
    [true, false, { FORCE_COLOR: '1', NO_COLOR: '1', TERM: 'dumb' }],
    [false, true, { FORCE_COLOR: '0' }],
    [false, false, { FORCE_COLOR: '' }],
    [false, true, { FORCE_COLOR: '1' }, false],
  ])('are %s for terminal %s, %j, option %s', async (expected, isTTY, env, isColoured) => {
    expect(await hasColours(isTTY, env, isColoured)).toBe(expected);
  });
});
