import { limits } from '../kernel/limits.ts';
import { type Bench, type Exchange, isAccepted, passed, type SendingCase, statusOf } from './case.ts';
import { type Message, signatureOf } from './forge.ts';
import { type Mending, mustAccept, plainReason, receivedWords } from './judge.ts';
import type { Dribble } from './transport.ts';

/** A case whose requests must be accepted, one after the other. */
function accepting(why: string, make: (bench: Bench) => readonly Message[], mending: Mending): SendingCase {
  return {
    why,
    expected: '2xx',
    run: async (bench) => {
      const exchanges: Exchange[] = [];
      for (const message of make(bench)) exchanges.push(await bench.ask(message));
      return exchanges;
    },
    judge: mustAccept(mending),
  };
}

const ignoreLine = 'default: return response.writeHead(204).end(); // a type that we do not know';
const secretWords =
  'Check that the receiver has the secret of this very webhook (rotate it if you are not sure), and that it verifies the bytes as they came, before any JSON parser has touched them.';
const rawLine =
  "app.post('/hook', express.raw({ type: 'application/json' }), handler); // req.body is a Buffer";
const rawAdvice =
  'It seems to verify JSON that was parsed and written anew. That is the same text only by luck: spaces, escapes and numbers come out otherwise. Keep the raw body, verify that, and parse it afterwards.';

/** Written as nobody writes it who has parsed it: other spaces, other escapes, the same event. */
function oddlyWritten(payload: string): string {
  const spaced = JSON.stringify(JSON.parse(payload), null, 3);
  return `${spaced.replaceAll('/', '\\/').replace('"sandbox"', '"\\u0073andbox"')}\n`;
}

const accented = 'Zoë Ångström, 東京, 🏦';
const dribblePauseMs = 150;

/** Cuts in the middle of every character that takes several bytes, up to a maximum, so that no piece is text by itself. */
export function cutsInside(body: string, cutsMax: number): readonly number[] {
  const bytes = new TextEncoder().encode(body);
  const cuts: number[] = [];
  bytes.forEach((byte, place) => {
    // A continuation byte, whose character began right before it.
    const isInside = (byte & 0xc0) === 0x80 && ((bytes[place - 1] ?? 0) & 0xc0) === 0xc0;
    if (isInside) cuts.push(place);
  });
  return cuts.slice(0, cutsMax);
}

const largeBytes = 200 * 1024;

function padded(data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const value = 'x'.repeat(limits.metadataValueLengthMax);
  const count = Math.ceil(largeBytes / value.length);
  const notes = Array.from({ length: count }, (_, place) => [`note_${place}`, value] as const);
  return { ...data, metadata: Object.fromEntries(notes) };
}

/** Statuses with which receivers say that they do not believe it. */
const disbelief: ReadonlySet<number | null> = new Set([400, 401, 403, 422]);
const isVerdictOnSignature = ({ answer }: Exchange) => disbelief.has(statusOf(answer));

export const acceptingCases = {
  valid_signature: {
    why: 'This is what real events look like. Nothing else counts before it works.',
    expected: '2xx',
    run: async ({ forge, ask }) => {
      const message = forge.message();
      const first = await ask(message);
      if (!isVerdictOnSignature(first)) return [first];
      // Refused: does it verify what a JSON writer makes of the body? Then signatures of that are good enough for it.
      const written = rewritings(message.body).flatMap((body) =>
        forge.secrets.map((secret) => signatureOf(secret, { ...message, body })),
      );
      const headers = { ...message.headers, 'webhook-signature': written.join(' ') };
      return [first, await ask({ body: message.body, headers })];
    },
    judge: ([first, second]) => {
      if (!first || isAccepted(first)) return passed;
      const verdict = { outcome: 'failed', received: receivedWords([first]), example: rawLine } as const;
      if (second && isAccepted(second)) return { ...verdict, advice: rawAdvice };
      const plain = plainReason(first) ?? 'It was refused.';
      return isVerdictOnSignature(first)
        ? { ...verdict, advice: `${plain} ${secretWords}` }
        : { ...verdict, advice: plain, example: null };
    },
  },
  raw_body: accepting(
    'Parsing the body before verifying it is the commonest fault of receivers, and shows only when an event has the wrong characters in it.',
    ({ forge }) => [forge.message({ text: oddlyWritten })],
    { advice: rawAdvice, example: rawLine },
  ),
  rotated_secret: accepting(
    'While a secret is rotated every event is signed by the new one and the old one. A receiver has one of them, first or last.',
    ({ forge }) => [
      forge.message({ signers: [forge.strange, ...forge.secrets] }),
      forge.message({ signers: [...forge.secrets, forge.strange] }),
    ],
    {
      advice: 'The header holds a list with spaces between. Accept the event when one of them is good.',
      example: "const isGood = header.split(' ').some((one) => isSame(one, 'v1,' + expected));",
    },
  ),
  duplicate: accepting(
    'Events come at least once. When your answer is lost on its way, the same event comes again, and goes on coming until you accept it.',
    ({ forge }) => {
      const message = forge.message();
      return [message, forge.signed(message.id, message.body)];
    },
    {
      advice:
        'Answer 2xx to an event that you have seen, and do nothing else. Keep its id under a unique index, in the transaction that does the work.',
      example: 'insert into seen_events (id) values ($1) on conflict do nothing',
    },
  ),
  disorder: accepting(
    'Events overtake each other: one that failed is retried after those that came later.',
    ({ forge }) => {
      const later = forge.message({ sequence: 2, data: (data) => ({ ...data, version: 2 }) });
      const { data } = JSON.parse(later.body) as { data: Readonly<Record<string, unknown>> };
      return [later, forge.message({ sequence: 1, data: () => ({ ...data, version: 1 }) })];
    },
    {
      advice:
        'Keep the highest `sequence` of each record, and answer 2xx to what is older without applying it.',
      example: 'update orders set status = $1, sequence = $2 where id = $3 and sequence < $2',
    },
  ),
  unknown_type: accepting(
    'New types of events appear. A receiver that refuses them is sent them again and again, and is disabled in the end.',
    ({ forge }) => [forge.message({ type: 'examination.unknown_type' })],
    { advice: 'Answer 2xx to types that you do not know, and ignore them.', example: ignoreLine },
  ),
  extra_fields: accepting(
    'Fields are added without a new version of the API. A schema that forbids unknown ones breaks on that day.',
    ({ forge }) => [
      forge.message({
        data: (data) => ({ ...data, addedLater: { why: 'an examination', list: [1, null, true] } }),
        text: (payload) => `${payload.slice(0, -1)},"addedLater":"an examination"}`,
      }),
    ],
    {
      advice:
        'Read the fields that you need and let the others be: no `additionalProperties: false`, no strict objects.',
      example: 'const Event = z.looseObject({ id: z.string(), type: z.string() });',
    },
  ),
  split_body: {
    why: 'A body is no single packet. It may be cut anywhere, also in the middle of a character.',
    expected: '2xx',
    run: async ({ forge, ask }) => {
      const message = forge.message({ data: (data) => ({ ...data, description: accented }) });
      const dribble: Dribble = { cuts: cutsInside(message.body, 6), pauseMs: dribblePauseMs };
      return [await ask({ ...message, dribble })];
    },
    judge: mustAccept({
      advice:
        'Collect the pieces as bytes and join them before you make text of them: `body += chunk` spoils every character that was cut. Wait for the end of the body, too; a sender may be slow.',
      example:
        'const chunks = []; for await (const chunk of request) chunks.push(chunk); const rawBody = Buffer.concat(chunks);',
    }),
  },
  burst: {
    why: 'One act of yours may bring about many events, and they are sent at once.',
    expected: '2xx',
    run: ({ forge, ask }) =>
      Promise.all(Array.from({ length: limits.examinationAtOnceMax }, () => ask(forge.message()))),
    judge: mustAccept({
      advice:
        'Verify, put the event into a queue or a table, answer, and do the work afterwards. If your server cannot take many requests at once, lower `maxConcurrency` of the webhook.',
      example: 'await queue.add(event); response.writeHead(202).end();',
    }),
  },
  large_payload: accepting(
    'Some events are large. Many servers read no more than 100 KiB unless told.',
    ({ forge }) => [forge.message({ data: padded })],
    {
      advice: 'Let bodies of up to 1 MiB through, in the framework and in the proxy in front of it.',
      example: "express.raw({ type: 'application/json', limit: '1mb' }) // nginx: client_max_body_size 1m;",
    },
  ),
  get_request: {
    why: 'People open the URL in a browser, monitors and scanners call it. That is no event, and no emergency.',
    expected: 'below 500',
    run: async ({ forge, ask }) => [await ask({ method: 'GET', body: '', headers: forge.plainHeaders })],
    judge: (exchanges) =>
      exchanges.every(({ answer }) => (statusOf(answer) ?? 500) < 500)
        ? passed
        : {
            outcome: 'failed',
            advice:
              'Answer a GET with 405, or with a page that says what lives here. It has no body and no signature: do not parse what is not there.',
            example:
              "if (request.method !== 'POST') return response.writeHead(405, { allow: 'POST' }).end();",
          },
  },
} as const satisfies Record<string, SendingCase>;

/** What the usual writers of JSON make of a body: JavaScript's, Python's, one that sorts, one that indents. */
function rewritings(body: string): readonly string[] {
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
