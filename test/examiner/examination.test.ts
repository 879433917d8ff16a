// How an examination goes about it: what it sends, when it ends, and what it says.
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { cutsInside } from '../../src/examiner/accepting.ts';
import { examineUrl } from '../../src/examiner/local.ts';
import { caseNames, caseWords } from '../../src/examiner/schema.ts';
import { isId } from '../../src/kernel/ids.ts';
import { type Event, type Handled, openExaminee, patient, secret, verified } from './receivers.ts';

const eventOf = ({ rawBody }: Handled) => JSON.parse(rawBody.toString('utf8')) as Event;
const outcomes = (report: Awaited<ReturnType<typeof examineUrl>>) =>
  Object.fromEntries(report.cases.map(({ name, outcome }) => [name, outcome]));

test('a receiver without a fault gets an A and all of the score', async () => {
  const receiver = await openExaminee();
  const report = await examineUrl({ url: receiver.url, secret, bounds: patient });
  expect(outcomes(report)).toEqual(Object.fromEntries(caseNames.map((name) => [name, 'passed'])));
  expect(report).toMatchObject({
    url: receiver.url,
    eventType: 'payment.created',
    status: 'passed',
    grade: 'A',
    score: 100,
    complete: true,
    message: null,
  });
  expect(report.cases.map(({ name }) => name)).toEqual(caseNames);
  for (const { title, why, expected, received } of report.cases)
    for (const words of [title, why, expected, received]) expect(words).not.toBe('');
});

test('twenty at once are really at once', async () => {
  let letAllGo = (): void => undefined;
  const allCame = new Promise<void>((resolve) => {
    letAllGo = resolve;
  });
  let came = 0;
  const receiver = await openExaminee({
    handle: async () => {
      came += 1;
      // The first one is the good event before them.
      if (came === 1) return false;
      if (came === 21) letAllGo();
      await allCame;
      return false;
    },
  });
  const report = await examineUrl({ url: receiver.url, secret, cases: ['burst'] });
  expect(outcomes(report)).toEqual({ valid_signature: 'passed', burst: 'passed' });
  expect(report.cases[1]).toMatchObject({ received: '20 × 204' });
});

test('every request names the examination, and every event is marked as of the sandbox and new in its run', async () => {
  const receiver = await openExaminee();
  const [first, second] = [
    await examineUrl({ url: receiver.url, secret, cases: ['duplicate', 'burst', 'tampered_body'] }),
    await examineUrl({ url: receiver.url, secret, cases: ['duplicate', 'burst', 'tampered_body'] }),
  ];
  expect(first.id).not.toBe(second.id);
  const named = (id: string) =>
    receiver.handled.filter(({ headers }) => headers['sandbank-examination'] === id);
  const [ofFirst, ofSecond] = [named(first.id), named(second.id)];
  // One good event, the changed one, twice the same, and the crowd.
  expect([ofFirst.length, ofSecond.length]).toEqual([24, 24]);
  expect(receiver.handled).toHaveLength(48);
  expect(isId('examination', first.id)).toBe(true);
  const ids = receiver.handled.map((one) => eventOf(one).id);
  expect(new Set(ids).size).toBe(46);
  for (const one of receiver.handled) {
    expect(eventOf(one)).toMatchObject({
      object: 'event',
      sandbox: true,
      status: 'ok',
      type: 'payment.created',
    });
    expect(one.headers['webhook-id']).toBe(eventOf(one).id);
    expect(isId('payment', String(eventOf(one).data.id))).toBe(true);
  }
  expect(new Set(receiver.handled.map((one) => eventOf(one).data.id)).size).toBe(46);
});

test('a duplicate is signed anew and is the same otherwise, a newer event comes before the older one of its record', async () => {
  const receiver = await openExaminee();
  await examineUrl({ url: receiver.url, secret, cases: ['duplicate', 'disorder'] });
  const [, once, twice, newer, older] = receiver.handled;
  expect(once?.rawBody).toEqual(twice?.rawBody);
  const [a, b] = [newer, older].map((one) => one && eventOf(one));
  expect([a?.sequence, b?.sequence]).toEqual([2, 1]);
  expect([a?.data.version, b?.data.version]).toEqual([2, 1]);
  expect(a?.data.id).toBe(b?.data.id);
  expect(a?.id).not.toBe(b?.id);
});

test('what is sent oddly written, with other fields and in pieces is a good event all the same', async () => {
  const receiver = await openExaminee();
  await examineUrl({
    url: receiver.url,
    secret,
    cases: ['raw_body', 'extra_fields', 'split_body', 'large_payload'],
  });
  const [plain, odd, extra, split, large] = receiver.handled;
  if (!plain || !odd || !extra || !split || !large) throw new Error('five requests were to be sent');
  for (const one of receiver.handled) expect(verified(one)).toEqual(eventOf(one));
  expect(odd.rawBody.toString('utf8')).not.toBe(JSON.stringify(eventOf(odd)));
  expect(eventOf(odd)).toMatchObject({ sandbox: true, data: { object: 'payment' } });
  expect(eventOf(extra)).toMatchObject({
    addedLater: expect.anything(),
    data: { addedLater: expect.anything() },
  });
  expect(large.rawBody.length).toBeGreaterThan(200 * 1024);
  expect(large.rawBody.length).toBeLessThan(256 * 1024);
  const cuts = cutsInside(split.rawBody.toString('utf8'), 6);
  expect(cuts).toHaveLength(6);
  for (const cut of cuts) expect(split.rawBody.subarray(0, cut).toString('utf8')).toContain('\ufffd');
});

test('only what is chosen is tried, after a good event, which counts too', async () => {
  const receiver = await openExaminee();
  const report = await examineUrl({ url: receiver.url, secret, cases: ['stale_timestamp'] });
  expect(outcomes(report)).toEqual({ valid_signature: 'passed', stale_timestamp: 'passed' });
  expect(report).toMatchObject({ complete: true, grade: 'A', score: 100 });
  expect(receiver.handled).toHaveLength(2);
});

test('events of another type, with data of the caller, are sent where they are asked for', async () => {
  const receiver = await openExaminee();
  const data = { object: 'customer', id: 'cus_01m7epxwjmf7za77rhky2f93cc', name: 'Ada' };
  const report = await examineUrl({
    url: receiver.url,
    secret,
    eventType: 'customer.created',
    data,
    cases: ['burst'],
  });
  expect(report.eventType).toBe('customer.created');
  for (const one of receiver.handled) {
    expect(eventOf(one)).toMatchObject({
      type: 'customer.created',
      data: { object: 'customer', name: 'Ada' },
    });
    expect(isId('customer', String(eventOf(one).data.id))).toBe(true);
  }
});

test('while two secrets overlap both sign, and a receiver with either passes', async () => {
  const newer = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
  for (const own of [secret, newer]) {
    const receiver = await openExaminee({ verify: (handled) => verified(handled, own) });
    expect(await examineUrl({ url: receiver.url, secret: [newer, secret] })).toMatchObject({ grade: 'A' });
    expect(receiver.handled[0]?.headers['webhook-signature']?.split(' ')).toHaveLength(2);
  }
});

const rest =
  'Nothing else was tried: as long as it does not take a good event, its other answers say nothing.';

test('where nothing listens it ends at once, with one sentence and one verdict', async () => {
  const { url, close } = await openExaminee();
  await close();
  const report = await examineUrl({ url, secret });
  expect(report).toMatchObject({ status: 'failed', grade: 'F', score: 0, complete: false });
  expect(report.message).toBe(`No answer came. Connection refused: nothing listens there. ${rest}`);
  expect(report.cases).toMatchObject([
    {
      name: 'valid_signature',
      outcome: 'failed',
      received: 'no answer',
      attempts: [{ responseStatus: null, error: 'Connection refused: nothing listens there.' }],
      advice: 'No answer came. Connection refused: nothing listens there.',
      example: null,
    },
  ]);
});

test.each([
  [301, /no redirect is ever followed/],
  [404, /nothing at this path/],
  [405, /takes no POST/],
  [415, /application\/json/],
  [429, /limits how often/],
  [500, /your log has the error/],
  [401, /has the secret of this very webhook/],
])(
  'a receiver that answers %i to a good event is told that, and is judged by nothing else',
  async (status, advice) => {
    const receiver = await openExaminee({
      before: ({ response }) => {
        response.writeHead(status, { location: '/elsewhere' }).end();
        return true;
      },
    });
    const report = await examineUrl({ url: receiver.url, secret });
    expect(report.message).toBe(`The receiver answered ${status} to a correctly signed event. ${rest}`);
    expect(report.cases.map(({ name, outcome, received }) => [name, outcome, received])).toEqual([
      ['valid_signature', 'failed', String(status)],
    ]);
    expect(report.cases[0]?.advice).toMatch(advice);
    expect(report).toMatchObject({ grade: 'F', complete: false, status: 'failed' });
    expect(receiver.handled.every(({ request }) => request.url === '/hook')).toBe(true);
  },
);

/** As Python's json.dumps writes it. */
const pythonOf = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${pythonOf(one)}`);
  return `{${fields.join(', ')}}`;
};

test.each([
  ['Python', pythonOf],
  ['an indenting writer', (value: unknown) => JSON.stringify(value, null, 2)],
])(
  'a receiver that verifies what %s makes of the body is told so, although it takes no event at all',
  async (_who, write) => {
    const { url } = await openExaminee({
      verify: (handled) => verified({ ...handled, rawBody: Buffer.from(write(eventOf(handled))) }),
    });
    const report = await examineUrl({ url, secret });
    expect(report.cases).toMatchObject([{ name: 'valid_signature', outcome: 'failed', received: '401' }]);
    expect(report.cases[0]?.advice).toMatch(/parsed and written anew/);
  },
);

test('a receiver that a request brings down is told which, and nothing after it is held against it', async () => {
  let isDown = false;
  const { url } = await openExaminee({
    before: ({ headers, response }) => {
      isDown ||= headers['webhook-signature'] === 'nonsense';
      if (isDown) response.destroy();
      return isDown;
    },
  });
  const report = await examineUrl({ url, secret });
  expect(report.message).toMatch(/stopped answering during `malformed_signature`/);
  const failed = report.cases.filter(({ outcome }) => outcome !== 'passed');
  expect(failed.map(({ name, outcome }) => [name, outcome])).toEqual([['malformed_signature', 'failed']]);
  expect(failed[0]?.advice).toMatch(/not even to a good event/);
  expect(report).toMatchObject({ complete: false, status: 'failed', grade: 'C' });
});

test('when the time is over it ends, and says so; what was under way is not held against the receiver', async () => {
  const { url } = await openExaminee({
    handle: ({ sequence }) => (sequence === 2 ? new Promise<boolean>(() => undefined) : false),
  });
  const report = await examineUrl({ url, secret, bounds: { overallMs: 2_500 } });
  expect(report.durationMs).toBeLessThan(60_000);
  expect(report.message).toMatch(/^The time of 2.5 seconds was over before every case was tried/);
  expect(report).toMatchObject({ complete: false, status: 'failed' });
  expect(report.cases.map(({ outcome }) => outcome)).not.toContain('failed');
  expect(outcomes(report)).not.toHaveProperty('disorder');
});

test('a request without an answer ends when its own time is over', async () => {
  const { url } = await openExaminee({
    handle: ({ type }) =>
      type === 'examination.unknown_type' ? new Promise<boolean>(() => undefined) : false,
  });
  const report = await examineUrl({
    url,
    secret,
    cases: ['unknown_type', 'extra_fields'],
    bounds: { requestMs: 3_000 },
  });
  expect(outcomes(report)).toEqual({
    valid_signature: 'passed',
    unknown_type: 'failed',
    extra_fields: 'passed',
  });
  const attempt = report.cases[1]?.attempts[0];
  expect(attempt).toMatchObject({ responseStatus: null, error: 'Timeout: no answer within 3 seconds.' });
  expect(report.complete).toBe(true);
});

test('it can be stopped, and says that it was', async () => {
  const stop = new AbortController();
  const { url } = await openExaminee({
    handle: ({ type }) => {
      if (type !== 'examination.unknown_type') return false;
      stop.abort();
      return new Promise<boolean>(() => undefined);
    },
  });
  const report = await examineUrl({ url, secret, signal: stop.signal });
  expect(report).toMatchObject({ complete: false, message: 'The examination was stopped before its end.' });
  expect(outcomes(report)).not.toHaveProperty('unknown_type');
});

test('a URL that cannot be sent to is a sentence, not a failure of ours', async () => {
  for (const url of ['nonsense', 'ftp://127.0.0.1/', 'http://name.invalid/']) {
    const report = await examineUrl({ url, secret, cases: ['burst'] });
    expect(report.cases).toMatchObject([{ name: 'valid_signature', outcome: 'failed' }]);
    expect(report.message).toMatch(/^No answer came. /);
  }
});

test('no report holds a secret or a signature', async () => {
  const { url } = await openExaminee({
    refuse: (_error, { response, headers, rawBody }) => {
      const good = new Webhook(secret).sign(
        headers['webhook-id'] ?? '',
        new Date(Number(headers['webhook-timestamp'] ?? 0) * 1_000),
        rawBody,
      );
      response.writeHead(401).end(`${secret} ${good}`);
    },
  });
  const report = await examineUrl({ url, secret });
  expect(report.grade).toBe('F');
  expect(JSON.stringify(report)).not.toContain(secret.slice(6, -1));
  expect(JSON.stringify(report)).not.toMatch(/v1,[\w+/]{43}=/);
});

test('docs/examiner.md names every case with its title and severity', () => {
  const docs = readFileSync(new URL('../../docs/examiner.md', import.meta.url), 'utf8');
  const rows = [...docs.matchAll(/^\| `(\w+)` \| (\w+) \| ([^|]+) \|/gm)].map(([, name, severity, title]) => [
    name,
    severity,
    title,
  ]);
  expect(rows).toEqual(caseNames.map((name) => [name, caseWords[name].severity, caseWords[name].title]));
});
