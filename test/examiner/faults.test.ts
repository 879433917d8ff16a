// Receivers with exactly one fault each: what is found is that fault, and nothing else.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { expect, test } from 'vitest';
import { examineUrl, type LocalExamination } from '../../src/examiner/local.ts';
import type { CaseName, Grade } from '../../src/examiner/schema.ts';
import { caseNames } from '../../src/examiner/schema.ts';
import {
  type Event,
  type Fault,
  type Handled,
  openExaminee,
  patient,
  secret,
  verified,
} from './receivers.ts';

const parsed = ({ rawBody }: Handled) => JSON.parse(rawBody.toString('utf8')) as Event;
const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
const signatureOf = (headers: Readonly<Record<string, string>>, body: string | Buffer) => {
  const hmac = createHmac('sha256', key).update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`);
  return `v1,${hmac.update(body).digest('base64')}`;
};
/** A verification by hand, without a look at the time. */
const handmade = ({ headers, rawBody }: Handled, body: string | Buffer = rawBody) => {
  if (!headers['webhook-id'] || !headers['webhook-timestamp']) throw new Error('headers');
  const given = headers['webhook-signature']?.split(' ') ?? [];
  if (!given.includes(signatureOf(headers, body))) throw new Error('signature');
  return JSON.parse(rawBody.toString('utf8')) as Event;
};
const fresh = (handled: Handled, isFresh: (ageSeconds: number) => boolean) => {
  const event = handmade(handled);
  if (!isFresh(Date.now() / 1_000 - Number(handled.headers['webhook-timestamp']))) throw new Error('age');
  return event;
};
const hmac = (hash: string, by: Buffer | string, content: string) =>
  createHmac(hash, by).update(content).digest('base64');
/** Verifies as it should, and takes also what a weaker comparison of the signature takes. */
const takingAlso =
  (isTaken: (given: string, good: string, content: string) => boolean) =>
  (handled: Handled): unknown => {
    const { headers, rawBody } = handled;
    const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${rawBody.toString('utf8')}`;
    const isFresh = Math.abs(Date.now() / 1_000 - Number(headers['webhook-timestamp'])) < 300;
    const good = signatureOf(headers, rawBody);
    const isWeak = isTaken(headers['webhook-signature'] ?? '', good, content);
    return isWeak && isFresh && headers['webhook-id'] ? parsed(handled) : verified(handled);
  };
const answering = ({ response }: Handled, status: number, body = '') => {
  response.writeHead(status).end(body);
  return true;
};
/** Remembers, for faults that are about what came before. */
function remembering<T>(isBad: (event: Event, memory: Map<string, T>) => boolean): Fault {
  const memory = new Map<string, T>();
  return { handle: (event, handled) => isBad(event, memory) && answering(handled, 409) };
}

const knownTypes = new Set(['payment.created', 'payment.captured']);
const knownFields = new Set(
  'object id sandbox requestId status type apiVersion timestamp sequence data'.split(' '),
);

/** Takes so many at once, after the good event that comes first; they wait until there is one too many. */
function crowded(most: number): Fault {
  let came = 0;
  let tellFull = (): void => undefined;
  const full = new Promise<void>((resolve) => {
    tellFull = resolve;
  });
  return {
    before: async (handled) => {
      came += 1;
      if (came === 1) return false;
      if (came > most + 1) {
        tellFull();
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
  readonly more?: Partial<LocalExamination>;
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
          // Too late.
        }
        return true;
      },
    },
    failed: unverified,
    grade: 'F',
    advice: /before you verify/,
  },
  'takes a request without a signature for one of its own': {
    fault: {
      verify: (handled) => (handled.headers['webhook-signature'] ? verified(handled) : parsed(handled)),
    },
    failed: ['missing_signature'],
    grade: 'F',
    advice: /Verify the signature of every request/,
  },
  'only looks at the form of the signature': {
    fault: {
      verify: (handled) => {
        if (!/^v1,[\w+/]{43}=/.test(handled.headers['webhook-signature'] ?? '')) throw new Error('form');
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
  'verifies the body with the amount that it expects': {
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
  'compares no more than what was given': {
    fault: {
      verify: (handled) => {
        const given = handled.headers['webhook-signature'] ?? 'none';
        const isPrefix = given === 'v1,' && signatureOf(handled.headers, handled.rawBody).startsWith(given);
        return isPrefix ? parsed(handled) : verified(handled);
      },
    },
    failed: ['malformed_signature'],
    grade: 'C',
    advice: /compare what is left whole/,
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
    fault: { verify: takingAlso((given, good) => given.slice(0, 12) === good.slice(0, 12)) },
    // The beginning of a right signature is as good as a whole one.
    failed: ['partial_signature', 'malformed_signature'],
    grade: 'F',
    advice: /Compare the whole signature/,
  },
  'compares only the end of a signature': {
    fault: { verify: takingAlso((given, good) => given.slice(-8) === good.slice(-8) && given.length === 47) },
    // The version is not at the end.
    failed: ['partial_signature', 'unknown_version'],
    grade: 'F',
    advice: /Compare the whole signature/,
  },
  'takes HMAC-SHA1 as well': {
    fault: {
      verify: takingAlso((given, _good, content) => given === `v1,${hmac('sha1', key, content)}`),
    },
    failed: ['other_algorithm'],
    grade: 'F',
    advice: /HMAC-SHA256 with your secret/,
  },
  'takes HMAC-SHA512 as well': {
    fault: {
      verify: takingAlso((given, _good, content) => given === `v1,${hmac('sha512', key, content)}`),
    },
    failed: ['other_algorithm'],
    grade: 'F',
    advice: /HMAC-SHA256 with your secret/,
  },
  'takes a hash without a key as well': {
    fault: {
      verify: takingAlso(
        (given, _good, content) => given === `v1,${createHash('sha256').update(content).digest('base64')}`,
      ),
    },
    failed: ['other_algorithm'],
    grade: 'F',
    advice: /HMAC-SHA256 with your secret/,
  },
  'signs with an empty key when it has none': {
    fault: {
      verify: takingAlso((given, _good, content) => given === `v1,${hmac('sha256', '', content)}`),
    },
    failed: ['other_algorithm'],
    grade: 'F',
    advice: /HMAC-SHA256 with your secret/,
  },
  'throws when a signature has another length': {
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
  'fails instead of refusing': {
    fault: { refuse: (_error, handled) => answering(handled, 500) },
    warned: unverified,
    grade: 'B',
    advice: /Answer 401/,
  },
  'sends who is not let in to a page': {
    fault: { refuse: (_error, handled) => answering(handled, 302) },
    warned: unverified,
    grade: 'B',
    advice: /redirect 302/,
  },
  'cuts the connection instead of refusing': {
    fault: { refuse: (_error, { response }) => response.destroy() },
    warned: unverified,
    grade: 'B',
    advice: /no answer came/,
  },
  'takes the id from the body': {
    fault: {
      verify: (handled) =>
        verified({ ...handled, headers: { 'webhook-id': parsed(handled).id, ...handled.headers } }),
    },
    failed: ['missing_id'],
    grade: 'C',
    advice: /three headers/,
  },
  'does without a timestamp': {
    fault: {
      verify: (handled) =>
        handled.headers['webhook-timestamp'] === undefined ? parsed(handled) : verified(handled),
    },
    failed: ['missing_timestamp'],
    grade: 'C',
    advice: /three headers/,
  },
  'does not look at the time': {
    fault: { verify: (handled) => handmade(handled) },
    failed: ['stale_timestamp', 'future_timestamp'],
    grade: 'C',
    advice: /five minutes/,
  },
  'takes old requests': {
    fault: { verify: (handled) => fresh(handled, (age) => age > -300) },
    failed: ['stale_timestamp'],
    grade: 'C',
    advice: /more than five minutes ago/,
  },
  'takes requests from the future': {
    fault: { verify: (handled) => fresh(handled, (age) => age < 300) },
    failed: ['future_timestamp'],
    grade: 'B',
    advice: /five minutes ahead/,
  },
  'parses the body and verifies what JSON.stringify makes of it': {
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
    fault: remembering<true>(({ id }, seen) => seen.has(id) || !seen.set(id, true)),
    failed: ['duplicate'],
    grade: 'C',
    advice: /that you have seen/,
  },
  'fails on an older event': {
    fault: remembering<number>(({ data, sequence }, newest) => {
      const isOlder = sequence < (newest.get(String(data.id)) ?? 0);
      newest.set(String(data.id), sequence);
      return isOlder;
    }),
    failed: ['disorder'],
    grade: 'C',
    advice: /highest `sequence`/,
  },
  'fails on a type that it does not know': {
    fault: { handle: ({ type }, handled) => !knownTypes.has(type) && answering(handled, 422) },
    failed: ['unknown_type'],
    grade: 'C',
    advice: /types that you do not know/,
  },
  'fails on a field that it does not know': {
    fault: {
      handle: (event, handled) =>
        Object.keys(event).some((name) => !knownFields.has(name)) && answering(handled, 400),
    },
    failed: ['extra_fields'],
    grade: 'C',
    advice: /let the others be/,
  },
  'makes text of every piece of the body': {
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
  'takes its time': {
    fault: {
      handle: async () => {
        await new Promise((resolve) => setTimeout(resolve, 120));
        return false;
      },
    },
    failed: ['quick_answer'],
    grade: 'C',
    advice: /do the work afterwards/,
    more: { bounds: { ...patient, patience: { good: 50, max: 100 } } },
  },
  'takes some time': {
    fault: {
      handle: async () => {
        await new Promise((resolve) => setTimeout(resolve, 120));
        return false;
      },
    },
    warned: ['quick_answer'],
    grade: 'B',
    advice: /do the work afterwards/,
    more: { bounds: { ...patient, patience: { good: 100, max: 20_000 } } },
  },
  'has no room for many at once': {
    fault: crowded(12),
    failed: ['burst'],
    grade: 'C',
    advice: /lower `maxConcurrency`/,
    more: { cases: ['burst'] },
  },
  'takes no large bodies': {
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
  'tells its secret to who is refused': {
    fault: { refuse: (_error, handled) => answering(handled, 401, `not signed with ${secret}`) },
    failed: ['no_leaks'],
    grade: 'F',
    advice: /rotate the secret/,
  },
  'tells the right signature to who is refused': {
    fault: {
      refuse: (_error, handled) =>
        answering(handled, 401, `expected ${signatureOf(handled.headers, handled.rawBody)}`),
    },
    failed: ['no_leaks'],
    grade: 'F',
    advice: /signature that would have been the right one/,
  },
  'shows a stack trace to who is refused': {
    fault: { refuse: (error, handled) => answering(handled, 401, error.stack) },
    warned: ['no_leaks'],
    grade: 'B',
    advice: /stack trace/,
  },
};

// Each waits for itself most of the time, so they wait together.
test.concurrent.for(Object.entries(table))(
  'a receiver that %s',
  async ([_what, { fault, failed = [], warned = [], ...rest }], { expect, onTestFinished }) => {
    const { url } = await openExaminee(fault, onTestFinished);
    const report = await examineUrl({ url, secret, bounds: patient, ...rest.more });
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

test('every case is failed by one of the receivers above, or by one that does not take a good event', () => {
  const met = new Set(Object.values(table).flatMap(({ failed = [] }) => failed));
  expect(caseNames.filter((name) => !met.has(name))).toEqual(['valid_signature']);
});

test('a receiver that shows a stack trace in a page is found too', async () => {
  const page = '<pre>Error: no signature<br> &nbsp; &nbsp;at verify (/srv/app/hook.js:12:9)</pre>';
  const { url } = await openExaminee({ refuse: (_error, handled) => answering(handled, 400, page) });
  const report = await examineUrl({ url, secret, cases: ['missing_signature', 'no_leaks'] });
  expect(report.cases.map(({ name, outcome }) => [name, outcome])).toEqual([
    ['valid_signature', 'passed'],
    ['missing_signature', 'passed'],
    ['no_leaks', 'warned'],
  ]);
});

test('what a receiver says back of the request itself gives nothing away', async () => {
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
