// Receivers with exactly one fault each: the examination finds that fault and nothing else.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { expect, test } from 'vitest';
import { examineUrl, type LocalExaminationOptions } from '../../src/examiner/local.ts';
import type { CaseName, Grade } from '../../src/examiner/schema.ts';
import { caseNames } from '../../src/examiner/schema.ts';
import {
  type Event,
  type Fault,
  type Handled,
  openExaminee,
  relaxedBounds,
  secret,
  verified,
} from './receivers.ts';

const parsed = ({ rawBody }: Handled) => JSON.parse(rawBody.toString('utf8')) as Event;
const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
const signatureOf = (headers: Readonly<Record<string, string>>, body: string | Buffer) => {
  const hmac = createHmac('sha256', key).update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`);
  return `v1,${hmac.update(body).digest('base64')}`;
};
/** A hand-written verification that ignores the timestamp. */
const verifySignature = ({ headers, rawBody }: Handled, body: string | Buffer = rawBody) => {
  if (!headers['webhook-id'] || !headers['webhook-timestamp']) throw new Error('headers');
  const given = headers['webhook-signature']?.split(' ') ?? [];
  if (!given.includes(signatureOf(headers, body))) throw new Error('signature');
  return JSON.parse(rawBody.toString('utf8')) as Event;
};
const verifyWithAge = (handled: Handled, isFresh: (ageSeconds: number) => boolean) => {
  const event = verifySignature(handled);
  if (!isFresh(Date.now() / 1_000 - Number(handled.headers['webhook-timestamp']))) throw new Error('age');
  return event;
};
const hmac = (hash: string, by: Buffer | string, content: string) =>
  createHmac(hash, by).update(content).digest('base64');
/** Verifies correctly, and also accepts signatures that a weaker comparison accepts. */
const alsoAccepting =
  (isAccepted: (given: string, good: string, content: string) => boolean) =>
  (handled: Handled): unknown => {
    const { headers, rawBody } = handled;
    const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${rawBody.toString('utf8')}`;
    const isFresh = Math.abs(Date.now() / 1_000 - Number(headers['webhook-timestamp'])) < 300;
    const good = signatureOf(headers, rawBody);
    const isWeak = isAccepted(headers['webhook-signature'] ?? '', good, content);
    return isWeak && isFresh && headers['webhook-id'] ? parsed(handled) : verified(handled);
  };
const answering = ({ response }: Handled, status: number, body = '') => {
  response.writeHead(status).end(body);
  return true;
};
/** For faults that depend on earlier events. */
function withMemory<T>(isBad: (event: Event, memory: Map<string, T>) => boolean): Fault {
  const memory = new Map<string, T>();
  return { handle: (event, handled) => isBad(event, memory) && answering(handled, 409) };
}

const knownTypes = new Set(['payment.created', 'payment.captured']);
const knownFields = new Set(
  'object id sandbox requestId status type apiVersion timestamp sequence data'.split(' '),
);

/** Accepts `most` concurrent requests after the first valid event, and holds them until one more arrives. */
function limitedTo(most: number): Fault {
  let arrived = 0;
  let markFull = (): void => undefined;
  const full = new Promise<void>((resolve) => {
    markFull = resolve;
  });
  return {
    before: async (handled) => {
      arrived += 1;
      if (arrived === 1) return false;
      if (arrived > most + 1) {
        markFull();
        return answering(handled, 503);
      }
      await full;
      return false;
    },
  };
}

interface Fails {
  readonly fault: Fault;
  readonly failed?: readonly CaseName[];
  readonly warned?: readonly CaseName[];
  readonly grade: Grade;
  readonly advice: RegExp;
  readonly more?: Partial<LocalExaminationOptions>;
}

const unverified: readonly CaseName[] = [
  'missing_signature',
  'wrong_signature',
  'other_secret',
  'tampered_body',
  'partial_signature',
  'other_algorithm',
  'malformed_signature',
  'unknown_version',
  'missing_id',
  'missing_timestamp',
  'stale_timestamp',
  'future_timestamp',
];

const table: Readonly<Record<string, Fails>> = {
  'verifies nothing': {
    fault: { verify: parsed },
    failed: unverified,
    grade: 'F',
    advice: /before you verify/,
  },
  'answers first and verifies afterwards': {
    fault: {
      before: (handled) => {
        answering(handled, 202);
        try {
          verified(handled);
        } catch {
          // The response is already sent.
        }
        return true;
      },
    },
    failed: unverified,
    grade: 'F',
    advice: /before you verify/,
  },
  'accepts a request without a signature': {
    fault: {
      verify: (handled) => (handled.headers['webhook-signature'] ? verified(handled) : parsed(handled)),
    },
    failed: ['missing_signature'],
    grade: 'F',
    advice: /Verify the signature of every request/,
  },
  'checks only the format of the signature': {
    fault: {
      verify: (handled) => {
        if (!/^v1,[\w+/]{43}=/.test(handled.headers['webhook-signature'] ?? '')) throw new Error('format');
        if (!handled.headers['webhook-id']) throw new Error('headers');
        const age = Date.now() / 1_000 - Number(handled.headers['webhook-timestamp']);
        if (!(Math.abs(age) < 300)) throw new Error('age');
        return parsed(handled);
      },
    },
    failed: ['wrong_signature', 'other_secret', 'tampered_body', 'partial_signature', 'other_algorithm'],
    grade: 'F',
    advice: /answer 401/,
  },
  'verifies the body with the expected amount instead of the received one': {
    fault: {
      verify: (handled) => {
        const text = handled.rawBody.toString('utf8').replace(/"amount":\d+/, '"amount":12500');
        return verified({ ...handled, rawBody: Buffer.from(text) });
      },
    },
    failed: ['tampered_body'],
    grade: 'F',
    advice: /covers the id, the timestamp and the whole body/,
  },
  'accepts a prefix of the signature': {
    fault: {
      verify: (handled) => {
        const given = handled.headers['webhook-signature'] ?? 'none';
        const isPrefix = given === 'v1,' && signatureOf(handled.headers, handled.rawBody).startsWith(given);
        return isPrefix ? parsed(handled) : verified(handled);
      },
    },
    failed: ['malformed_signature'],
    grade: 'C',
    advice: /compare the others completely/,
  },
  'ignores the version of a signature': {
    fault: {
      verify: (handled) => {
        const signature = (handled.headers['webhook-signature'] ?? '').replaceAll(/\bv\d+,/g, 'v1,');
        return verified({ ...handled, headers: { ...handled.headers, 'webhook-signature': signature } });
      },
    },
    failed: ['unknown_version'],
    grade: 'C',
    advice: /does not begin with `v1,`/,
  },
  'compares only the first nine characters of a signature': {
    fault: { verify: alsoAccepting((given, good) => given.slice(0, 12) === good.slice(0, 12)) },
    // The first characters of a valid signature pass.
    failed: ['partial_signature', 'malformed_signature'],
    grade: 'F',
    advice: /Compare the whole signature/,
  },
  'compares only the end of a signature': {
    fault: {
      verify: alsoAccepting((given, good) => given.slice(-8) === good.slice(-8) && given.length === 47),
    },
    // The version is at the start, so it is not compared.
    failed: ['partial_signature', 'unknown_version'],
    grade: 'F',
    advice: /Compare the whole signature/,
  },
  'also accepts HMAC-SHA1': {
    fault: {
      verify: alsoAccepting((given, _good, content) => given === `v1,${hmac('sha1', key, content)}`),
    },
    failed: ['other_algorithm'],
    grade: 'F',
    advice: /HMAC-SHA256 with your secret/,
  },
  'also accepts HMAC-SHA512': {
    fault: {
      verify: alsoAccepting((given, _good, content) => given === `v1,${hmac('sha512', key, content)}`),
    },
    failed: ['other_algorithm'],
    grade: 'F',
    advice: /HMAC-SHA256 with your secret/,
  },
  'also accepts an unkeyed hash': {
    fault: {
      verify: alsoAccepting(
        (given, _good, content) => given === `v1,${createHash('sha256').update(content).digest('base64')}`,
      ),
    },
    failed: ['other_algorithm'],
    grade: 'F',
    advice: /HMAC-SHA256 with your secret/,
  },
  'falls back to an empty key': {
    fault: {
      verify: alsoAccepting((given, _good, content) => given === `v1,${hmac('sha256', '', content)}`),
    },
    failed: ['other_algorithm'],
    grade: 'F',
    advice: /HMAC-SHA256 with your secret/,
  },
  'throws when the signature has a different length': {
    fault: {
      verify: (handled) => {
        const [given = ''] = (handled.headers['webhook-signature'] ?? '').split(' ').slice(-1);
        const good = Buffer.from(signatureOf(handled.headers, handled.rawBody));
        if (given !== '' && given.length !== good.length) timingSafeEqual(Buffer.from(given), good);
        return verified(handled);
      },
      refuse: (error, handled) => answering(handled, error instanceof RangeError ? 500 : 401),
    },
    warned: ['other_algorithm', 'malformed_signature'],
    grade: 'B',
    advice: /answered 500/,
  },
  'answers 500 instead of 401': {
    fault: { refuse: (_error, handled) => answering(handled, 500) },
    warned: unverified,
    grade: 'B',
    advice: /Answer 401/,
  },
  'redirects instead of answering 401': {
    fault: { refuse: (_error, handled) => answering(handled, 302) },
    warned: unverified,
    grade: 'B',
    advice: /redirect 302/,
  },
  'closes the connection instead of answering 401': {
    fault: { refuse: (_error, { response }) => response.destroy() },
    warned: unverified,
    grade: 'B',
    advice: /no answer came/,
  },
  'reads the id from the body': {
    fault: {
      verify: (handled) =>
        verified({ ...handled, headers: { 'webhook-id': parsed(handled).id, ...handled.headers } }),
    },
    failed: ['missing_id'],
    grade: 'C',
    advice: /three headers/,
  },
  'accepts a missing timestamp': {
    fault: {
      verify: (handled) =>
        handled.headers['webhook-timestamp'] === undefined ? parsed(handled) : verified(handled),
    },
    failed: ['missing_timestamp'],
    grade: 'C',
    advice: /three headers/,
  },
  'ignores the timestamp': {
    fault: { verify: (handled) => verifySignature(handled) },
    failed: ['stale_timestamp', 'future_timestamp'],
    grade: 'C',
    advice: /five minutes/,
  },
  'accepts old requests': {
    fault: { verify: (handled) => verifyWithAge(handled, (age) => age > -300) },
    failed: ['stale_timestamp'],
    grade: 'C',
    advice: /more than five minutes ago/,
  },
  'accepts requests from the future': {
    fault: { verify: (handled) => verifyWithAge(handled, (age) => age < 300) },
    failed: ['future_timestamp'],
    grade: 'B',
    advice: /five minutes ahead/,
  },
  'verifies the output of JSON.stringify instead of the raw body': {
    fault: {
      verify: (handled) => verified({ ...handled, rawBody: Buffer.from(JSON.stringify(parsed(handled))) }),
    },
    failed: ['raw_body'],
    grade: 'C',
    advice: /Keep the raw body/,
  },
  'reads the first signature only': {
    fault: {
      verify: (handled) => {
        const [first = ''] = (handled.headers['webhook-signature'] ?? '').split(' ');
        return verified({ ...handled, headers: { ...handled.headers, 'webhook-signature': first } });
      },
    },
    failed: ['rotated_secret'],
    grade: 'C',
    advice: /list with spaces/,
  },
  'fails on a duplicate': {
    fault: withMemory<true>(({ id }, seen) => seen.has(id) || !seen.set(id, true)),
    failed: ['duplicate'],
    grade: 'C',
    advice: /that you have seen/,
  },
  'fails on an older event': {
    fault: withMemory<number>(({ data, sequence }, newest) => {
      const isOlder = sequence < (newest.get(String(data.id)) ?? 0);
      newest.set(String(data.id), sequence);
      return isOlder;
    }),
    failed: ['disorder'],
    grade: 'C',
    advice: /highest `sequence`/,
  },
  'fails on an unknown event type': {
    fault: { handle: ({ type }, handled) => !knownTypes.has(type) && answering(handled, 422) },
    failed: ['unknown_type'],
    grade: 'C',
    advice: /types that you do not know/,
  },
  'fails on an unknown field': {
    fault: {
      handle: (event, handled) =>
        Object.keys(event).some((name) => !knownFields.has(name)) && answering(handled, 400),
    },
    failed: ['extra_fields'],
    grade: 'C',
    advice: /ignore the others/,
  },
  'decodes every chunk of the body separately': {
    fault: {
      read: async (request) => {
        let body = '';
        for await (const chunk of request) body += chunk;
        return Buffer.from(body);
      },
    },
    failed: ['split_body'],
    grade: 'C',
    advice: /as bytes/,
  },
  'exceeds the response time limit': {
    fault: {
      handle: async () => {
        await new Promise((resolve) => setTimeout(resolve, 120));
        return false;
      },
    },
    failed: ['quick_answer'],
    grade: 'C',
    advice: /do the work afterwards/,
    more: { bounds: { ...relaxedBounds, latency: { good: 50, max: 100 } } },
  },
  'exceeds the recommended response time': {
    fault: {
      handle: async () => {
        await new Promise((resolve) => setTimeout(resolve, 120));
        return false;
      },
    },
    warned: ['quick_answer'],
    grade: 'B',
    advice: /do the work afterwards/,
    more: { bounds: { ...relaxedBounds, latency: { good: 100, max: 20_000 } } },
  },
  'rejects concurrent requests': {
    fault: limitedTo(12),
    failed: ['burst'],
    grade: 'C',
    advice: /lower `maxConcurrency`/,
    more: { cases: ['burst'] },
  },
  'rejects large bodies': {
    fault: { before: (handled) => handled.rawBody.length > 100 * 1024 && answering(handled, 413) },
    failed: ['large_payload'],
    grade: 'B',
    advice: /too large for your server/,
  },
  'fails on a GET': {
    fault: { before: (handled) => handled.request.method === 'GET' && answering(handled, 500) },
    failed: ['get_request'],
    grade: 'B',
    advice: /405/,
  },
  'leaks its secret in the error response': {
    fault: { refuse: (_error, handled) => answering(handled, 401, `not signed with ${secret}`) },
    failed: ['no_leaks'],
    grade: 'F',
    advice: /rotate the secret/,
  },
  'leaks the valid signature in the error response': {
    fault: {
      refuse: (_error, handled) =>
        answering(handled, 401, `expected ${signatureOf(handled.headers, handled.rawBody)}`),
    },
    failed: ['no_leaks'],
    grade: 'F',
    advice: /signature that would have been the right one/,
  },
  'leaks a stack trace in the error response': {
    fault: { refuse: (error, handled) => answering(handled, 401, error.stack) },
    warned: ['no_leaks'],
    grade: 'B',
    advice: /stack trace/,
  },
};

// Each test mostly waits, so they run concurrently.
test.concurrent.for(Object.entries(table))(
  'a receiver that %s',
  async ([_what, { fault, failed = [], warned = [], ...rest }], { expect, onTestFinished }) => {
    const { url } = await openExaminee(fault, onTestFinished);
    const report = await examineUrl({ url, secret, bounds: relaxedBounds, ...rest.more });
    const named = (outcome: string) =>
      report.cases.filter((one) => one.outcome === outcome).map(({ name }) => name);
    expect({ failed: named('failed').sort(), warned: named('warned').sort() }).toEqual({
      failed: failed.toSorted(),
      warned: warned.toSorted(),
    });
    expect(report).toMatchObject({ complete: true, message: null, grade: rest.grade });
    expect(report.status).toBe(/[AB]/.test(rest.grade) ? 'passed' : 'failed');
    const first = report.cases.find(({ outcome }) => outcome !== 'passed');
    expect(first?.advice).toMatch(rest.advice);
    for (const { outcome, advice, example } of report.cases)
      if (outcome === 'passed') expect([advice, example]).toEqual([null, null]);
  },
);

test('every case but valid_signature is failed by one of the receivers above', () => {
  const failedCases = new Set(Object.values(table).flatMap(({ failed = [] }) => failed));
  expect(caseNames.filter((name) => !failedCases.has(name))).toEqual(['valid_signature']);
});

test('a stack trace in an HTML page is found too', async () => {
  const page = '<pre>Error: no signature<br> &nbsp; &nbsp;at verify (/srv/app/hook.js:12:9)</pre>';
  const { url } = await openExaminee({ refuse: (_error, handled) => answering(handled, 400, page) });
  const report = await examineUrl({ url, secret, cases: ['missing_signature', 'no_leaks'] });
  expect(report.cases.map(({ name, outcome }) => [name, outcome])).toEqual([
    ['valid_signature', 'passed'],
    ['missing_signature', 'passed'],
    ['no_leaks', 'warned'],
  ]);
});

test('echoing the request is not a leak', async () => {
  const { url } = await openExaminee({
    before: (handled) => {
      try {
        verified(handled);
      } catch {
        return answering(handled, 401, JSON.stringify(handled.headers) + handled.rawBody.toString('utf8'));
      }
      return answering(handled, 200, JSON.stringify(handled.headers) + handled.rawBody.toString('utf8'));
    },
  });
  const report = await examineUrl({ url, secret });
  expect(report.cases.find(({ name }) => name === 'no_leaks')).toMatchObject({ outcome: 'passed' });
});
