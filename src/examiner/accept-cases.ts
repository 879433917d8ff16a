import { limits } from '../kernel/limits.ts';
import { type ActiveCase, type Exchange, isAccepted, passed, statusOf, type TestContext } from './case.ts';
import { type Advice, mustAccept, plainReason, receivedSummary } from './judge.ts';
import { type Message, signatureOf } from './request-factory.ts';
import type { Dribble } from './transport.ts';

/** A case that sends its requests one after the other and expects the receiver to accept all of them. */
function acceptCase(
  why: string,
  make: (context: TestContext) => readonly Message[],
  advice: Advice,
): ActiveCase {
  return {
    why,
    expected: '2xx',
    run: async (context) => {
      const exchanges: Exchange[] = [];
      for (const message of make(context)) exchanges.push(await context.send(message));
      return exchanges;
    },
    judge: mustAccept(advice),
  };
}

const ignoreLine = 'default: return response.writeHead(204).end(); // unknown event type';
const secretAdvice =
  "Check that the receiver uses this webhook's secret (rotate it if you are not sure) and that it verifies the raw body bytes, before any JSON parser reads them.";
const rawLine =
  "app.post('/hook', express.raw({ type: 'application/json' }), handler); // req.body is a Buffer";
const rawAdvice =
  'The receiver seems to verify JSON that it parsed and serialized again. Serializing can change whitespace, escapes and numbers. Keep the raw body, verify it, and parse it afterwards.';

/** The same event with whitespace and escapes that JSON serializers do not produce. */
function unusuallyFormatted(payload: string): string {
  const spaced = JSON.stringify(JSON.parse(payload), null, 3);
  return `${spaced.replaceAll('/', '\\/').replace('"sandbox"', '"\\u0073andbox"')}\n`;
}

const accented = 'Zoë Ångström, 東京, 🏦';
const dribblePauseMs = 150;

/** Byte offsets inside multi-byte characters, at most `cutsMax`, so that the pieces are not valid UTF-8 by themselves. */
export function cutsInside(body: string, cutsMax: number): readonly number[] {
  const bytes = new TextEncoder().encode(body);
  const cuts: number[] = [];
  bytes.forEach((byte, offset) => {
    // A continuation byte directly after the first byte of its character.
    const isInside = (byte & 0xc0) === 0x80 && ((bytes[offset - 1] ?? 0) & 0xc0) === 0xc0;
    if (isInside) cuts.push(offset);
  });
  return cuts.slice(0, cutsMax);
}

const largeBytes = 200 * 1024;

function padded(data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const value = 'x'.repeat(limits.metadataValueLengthMax);
  const count = Math.ceil(largeBytes / value.length);
  const notes = Array.from({ length: count }, (_, index) => [`note_${index}`, value] as const);
  return { ...data, metadata: Object.fromEntries(notes) };
}

/** Statuses that receivers use for an invalid signature. */
const signatureRejections: ReadonlySet<number | null> = new Set([400, 401, 403, 422]);
const isVerdictOnSignature = ({ answer }: Exchange) => signatureRejections.has(statusOf(answer));

export const acceptCases = {
  valid_signature: {
    why: 'Real events have this form. The other cases are meaningful only when this one passes.',
    expected: '2xx',
    run: async ({ factory, send }) => {
      const message = factory.message();
      const first = await send(message);
      if (!isVerdictOnSignature(first)) return [first];
      // Rejected: check whether the receiver accepts a signature of the re-serialized body.
      const signatures = reserialized(message.body).flatMap((body) =>
        factory.secrets.map((secret) => signatureOf(secret, { ...message, body })),
      );
      const headers = { ...message.headers, 'webhook-signature': signatures.join(' ') };
      return [first, await send({ body: message.body, headers })];
    },
    judge: ([first, second]) => {
      if (!first || isAccepted(first)) return passed;
      const verdict = { outcome: 'failed', received: receivedSummary([first]), example: rawLine } as const;
      if (second && isAccepted(second)) return { ...verdict, advice: rawAdvice };
      const plain = plainReason(first) ?? 'The receiver rejected it.';
      return isVerdictOnSignature(first)
        ? { ...verdict, advice: `${plain} ${secretAdvice}` }
        : { ...verdict, advice: plain, example: null };
    },
  },
  raw_body: acceptCase(
    'Parsing the body before verifying it is the most common receiver bug, and it fails only for events with certain characters.',
    ({ factory }) => [factory.message({ text: unusuallyFormatted })],
    { advice: rawAdvice, example: rawLine },
  ),
  rotated_secret: acceptCase(
    'During a secret rotation every event is signed with the new and the old secret. The signature for your secret can be first or last in the list.',
    ({ factory }) => [
      factory.message({ signers: [factory.unknownSecret, ...factory.secrets] }),
      factory.message({ signers: [...factory.secrets, factory.unknownSecret] }),
    ],
    {
      advice:
        'The header is a list with spaces between the signatures. Accept the event when one of them is valid.',
      example: "const isValid = header.split(' ').some((one) => isSame(one, 'v1,' + expected));",
    },
  ),
  duplicate: acceptCase(
    'Delivery is at least once. When your response is lost, the same event is sent again until you accept it.',
    ({ factory }) => {
      const message = factory.message();
      return [message, factory.signed(message.id, message.body)];
    },
    {
      advice:
        'Answer 2xx to an event that you have seen, and do nothing else. Store its id with a unique index, in the same transaction as the work.',
      example: 'insert into seen_events (id) values ($1) on conflict do nothing',
    },
  ),
  disorder: acceptCase(
    'Events can arrive out of order: a failed delivery is retried after later events were delivered.',
    ({ factory }) => {
      const later = factory.message({ sequence: 2, data: (data) => ({ ...data, version: 2 }) });
      const { data } = JSON.parse(later.body) as { data: Readonly<Record<string, unknown>> };
      return [later, factory.message({ sequence: 1, data: () => ({ ...data, version: 1 }) })];
    },
    {
      advice:
        'Store the highest `sequence` of each record, and answer 2xx to older events without applying them.',
      example: 'update orders set status = $1, sequence = $2 where id = $3 and sequence < $2',
    },
  ),
  unknown_type: acceptCase(
    'New event types are added over time. A receiver that rejects them gets retries and is disabled in the end.',
    ({ factory }) => [factory.message({ type: 'examination.unknown_type' })],
    { advice: 'Answer 2xx to types that you do not know, and ignore them.', example: ignoreLine },
  ),
  extra_fields: acceptCase(
    'New fields are added without a new API version. A schema that forbids unknown fields then rejects every event.',
    ({ factory }) => [
      factory.message({
        data: (data) => ({ ...data, addedLater: { why: 'an examination', list: [1, null, true] } }),
        text: (payload) => `${payload.slice(0, -1)},"addedLater":"an examination"}`,
      }),
    ],
    {
      advice:
        'Read the fields that you need and ignore the others: no `additionalProperties: false`, no strict objects.',
      example: 'const Event = z.looseObject({ id: z.string(), type: z.string() });',
    },
  ),
  split_body: {
    why: 'A body can arrive in several packets, split anywhere, even inside a character.',
    expected: '2xx',
    run: async ({ factory, send }) => {
      const message = factory.message({ data: (data) => ({ ...data, description: accented }) });
      const dribble: Dribble = { cuts: cutsInside(message.body, 6), pauseMs: dribblePauseMs };
      return [await send({ ...message, dribble })];
    },
    judge: mustAccept({
      advice:
        'Collect the chunks as bytes and join them before you decode them: `body += chunk` corrupts every character that was split. Wait for the end of the body; a sender may be slow.',
      example:
        'const chunks = []; for await (const chunk of request) chunks.push(chunk); const rawBody = Buffer.concat(chunks);',
    }),
  },
  burst: {
    why: 'One API call can cause many events, and they are sent concurrently.',
    expected: '2xx',
    run: ({ factory, send }) =>
      Promise.all(Array.from({ length: limits.examinationAtOnceMax }, () => send(factory.message()))),
    judge: mustAccept({
      advice:
        'Verify, put the event into a queue or a table, answer, and do the work afterwards. If your server cannot handle many concurrent requests, lower `maxConcurrency` of the webhook.',
      example: 'await queue.add(event); response.writeHead(202).end();',
    }),
  },
  large_payload: acceptCase(
    'Some events are large. Many servers accept at most 100 KiB by default.',
    ({ factory }) => [factory.message({ data: padded })],
    {
      advice: 'Allow bodies of up to 1 MiB, in the framework and in the proxy in front of it.',
      example: "express.raw({ type: 'application/json', limit: '1mb' }) // nginx: client_max_body_size 1m;",
    },
  ),
  get_request: {
    why: 'Browsers, monitors and scanners request the URL. That must not cause a server error.',
    expected: 'below 500',
    run: async ({ factory, send }) => [
      await send({ method: 'GET', body: '', headers: factory.plainHeaders }),
    ],
    judge: (exchanges) =>
      exchanges.every(({ answer }) => (statusOf(answer) ?? 500) < 500)
        ? passed
        : {
            outcome: 'failed',
            advice:
              'Answer a GET with 405 or an information page. It has no body and no signature, so do not parse it.',
            example:
              "if (request.method !== 'POST') return response.writeHead(405, { allow: 'POST' }).end();",
          },
  },
} as const satisfies Record<string, ActiveCase>;

/** The body as common JSON serializers write it: Python, indented, sorted keys, trailing newline. */
function reserialized(body: string): readonly string[] {
  const value: unknown = JSON.parse(body);
  const python = JSON.stringify(value, null, 1)
    .replaceAll(/,\n\s*/g, ', ')
    .replaceAll(/\n\s*/g, '');
  return [python, JSON.stringify(value, null, 2), JSON.stringify(sorted(value)), `${body}\n`];
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, one]) => [name, sorted(one)]));
}
