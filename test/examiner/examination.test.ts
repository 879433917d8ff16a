// The course of an examination: the requests it sends, when it ends, and its messages.
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { cutsInside } from '../../src/examiner/accept-cases.ts';
import { examineUrl } from '../../src/examiner/local.ts';
import { caseDescriptions, caseNames } from '../../src/examiner/schema.ts';
import { isId } from '../../src/kernel/ids.ts';
import { type Event, type Handled, openExaminee, relaxedBounds, secret, verified } from './receivers.ts';

const eventOf = ({ rawBody }: Handled) => JSON.parse(rawBody.toString('utf8')) as Event;
const outcomes = (report: Awaited<ReturnType<typeof examineUrl>>) =>
  Object.fromEntries(report.cases.map(({ name, outcome }) => [name, outcome]));

test('a correct receiver gets an A and the full score', async () => {
  const receiver = await openExaminee();
  const report = await examineUrl({ url: receiver.url, secret, bounds: relaxedBounds });
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
    for (const text of [title, why, expected, received]) expect(text).not.toBe('');
});

test('the burst case sends 20 requests concurrently', async () => {
  let releaseAll = (): void => undefined;
  const allArrived = new Promise<void>((resolve) => {
    releaseAll = resolve;
  });
  let arrived = 0;
  const receiver = await openExaminee({
    handle: async () => {
      arrived += 1;
      // The first request is the valid event before the burst.
      if (arrived === 1) return false;
      if (arrived === 21) releaseAll();
      await allArrived;
      return false;
    },
  });
  const report = await examineUrl({ url: receiver.url, secret, cases: ['burst'] });
  expect(outcomes(report)).toEqual({ valid_signature: 'passed', burst: 'passed' });
  expect(report.cases[1]).toMatchObject({ received: '20 × 204' });
});

test('every request names the examination, and every event is marked as sandbox and has a new id', async () => {
  const receiver = await openExaminee();
  const [first, second] = [
    await examineUrl({ url: receiver.url, secret, cases: ['duplicate', 'burst', 'tampered_body'] }),
    await examineUrl({ url: receiver.url, secret, cases: ['duplicate', 'burst', 'tampered_body'] }),
  ];
  expect(first.id).not.toBe(second.id);
  const named = (id: string) =>
    receiver.handled.filter(({ headers }) => headers['sandbank-examination'] === id);
  const [ofFirst, ofSecond] = [named(first.id), named(second.id)];
  // One valid event, the tampered one, the duplicate pair, and the burst of 20.
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

test('a duplicate has the same body, and a newer event precedes the older one of its record', async () => {
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

test('unusual formatting, extra fields, chunks and size do not change the validity of an event', async () => {
  const receiver = await openExaminee();
  await examineUrl({
    url: receiver.url,
    secret,
    cases: ['raw_body', 'extra_fields', 'split_body', 'large_payload'],
  });
  const [plain, odd, extra, split, large] = receiver.handled;
  if (!plain || !odd || !extra || !split || !large) throw new Error('expected five requests');
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

test('only the selected cases run, after a valid event, which counts too', async () => {
  const receiver = await openExaminee();
  const report = await examineUrl({ url: receiver.url, secret, cases: ['stale_timestamp'] });
  expect(outcomes(report)).toEqual({ valid_signature: 'passed', stale_timestamp: 'passed' });
  expect(report).toMatchObject({ complete: true, grade: 'A', score: 100 });
  expect(receiver.handled).toHaveLength(2);
});

test('the caller can choose the event type and the event data', async () => {
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

test('both secrets sign during their overlap, and a receiver with either passes', async () => {
  const newer = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
  for (const own of [secret, newer]) {
    const receiver = await openExaminee({ verify: (handled) => verified(handled, own) });
    expect(await examineUrl({ url: receiver.url, secret: [newer, secret] })).toMatchObject({ grade: 'A' });
    expect(receiver.handled[0]?.headers['webhook-signature']?.split(' ')).toHaveLength(2);
  }
});

const rest = 'No other case ran: until the receiver accepts a valid event, its other responses mean nothing.';

test('a refused connection ends it at once, with one message and one failed case', async () => {
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
  [301, /never follow redirects/],
  [404, /nothing at this path/],
  [405, /does not accept POST/],
  [415, /application\/json/],
  [429, /limits the request rate/],
  [500, /check its log for the error/],
  [401, /uses this webhook's secret/],
])(
  'a receiver that answers %i to a valid event fails only that case, with matching advice',
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

/** The output format of Python's json.dumps. */
const pythonOf = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${pythonOf(one)}`);
  return `{${fields.join(', ')}}`;
};

test.each([
  ['Python', pythonOf],
  ['an indenting serializer', (value: unknown) => JSON.stringify(value, null, 2)],
])(
  'advice names the reserialized body when a receiver verifies the output of %s, although every event fails',
  async (_who, write) => {
    const { url } = await openExaminee({
      verify: (handled) => verified({ ...handled, rawBody: Buffer.from(write(eventOf(handled))) }),
    });
    const report = await examineUrl({ url, secret });
    expect(report.cases).toMatchObject([{ name: 'valid_signature', outcome: 'failed', received: '401' }]);
    expect(report.cases[0]?.advice).toMatch(/parsed and serialized again/);
  },
);

test('when a request crashes the receiver, the report names its case and fails no later one', async () => {
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
  expect(failed[0]?.advice).toMatch(/even to a valid event/);
  expect(report).toMatchObject({ complete: false, status: 'failed', grade: 'C' });
});

test('a timeout of the examination is reported, and does not fail the case in flight', async () => {
  const { url } = await openExaminee({
    handle: ({ sequence }) => (sequence === 2 ? new Promise<boolean>(() => undefined) : false),
  });
  const report = await examineUrl({ url, secret, bounds: { overallMs: 2_500 } });
  expect(report.durationMs).toBeLessThan(60_000);
  expect(report.message).toMatch(/^The limit of 2.5 seconds was reached before every case ran/);
  expect(report).toMatchObject({ complete: false, status: 'failed' });
  expect(report.cases.map(({ outcome }) => outcome)).not.toContain('failed');
  expect(outcomes(report)).not.toHaveProperty('disorder');
});

test('a request without a response ends with its own timeout', async () => {
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
  expect(attempt).toMatchObject({ responseStatus: null, error: 'Timeout: no response within 3 seconds.' });
  expect(report.complete).toBe(true);
});

test('an aborted examination reports that it was stopped', async () => {
  const stop = new AbortController();
  const { url } = await openExaminee({
    handle: ({ type }) => {
      if (type !== 'examination.unknown_type') return false;
      stop.abort();
      return new Promise<boolean>(() => undefined);
    },
  });
  const report = await examineUrl({ url, secret, signal: stop.signal });
  expect(report).toMatchObject({
    complete: false,
    message: 'The examination was stopped before it finished.',
  });
  expect(outcomes(report)).not.toHaveProperty('unknown_type');
});

test('an unusable URL is a finding, not an exception', async () => {
  for (const url of ['nonsense', 'ftp://127.0.0.1/', 'http://name.invalid/']) {
    const report = await examineUrl({ url, secret, cases: ['burst'] });
    expect(report.cases).toMatchObject([{ name: 'valid_signature', outcome: 'failed' }]);
    expect(report.message).toMatch(/^No answer came. /);
  }
});

test('a report contains no secret and no signature', async () => {
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

test('docs/examiner.md lists every case with its title and severity', () => {
  const docs = readFileSync(new URL('../../docs/examiner.md', import.meta.url), 'utf8');
  const rows = [...docs.matchAll(/^\| `(\w+)` \| (\w+) \| ([^|]+) \|/gm)].map(([, name, severity, title]) => [
    name,
    severity,
    title,
  ]);
  expect(rows).toEqual(
    caseNames.map((name) => [name, caseDescriptions[name].severity, caseDescriptions[name].title]),
  );
});
