import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { Capabilities, EventCreate } from '../../sdk/client.ts';
import { declare } from '../declare.ts';
import { fieldValues } from '../generated/values.ts';
import { fields, table } from '../layout.ts';
import { wrongUsage } from '../problem.ts';
import { choice, looseJson, pairs } from '../reading.ts';
import type { Session } from '../session.ts';

interface TriggerOptions {
  readonly data?: string;
  readonly override?: Readonly<Record<string, string>>;
  readonly list?: true;
}

type Data = Record<string, unknown>;

export function addTrigger(program: Command): void {
  declare<TriggerOptions>(program, 'trigger [type]', {
    summary: 'Create an event and send it to its subscribers',
    details:
      'Subscribers are the endpoints and listeners of its type. Without --data the example of the type is sent. No record changes.',
    arguments: { type: choice(...fieldValues.createWebhookEvent.type) },
    options: [
      ['--data <json>', 'event data: JSON, @FILE, or - for standard input'],
      [
        '--override <path=value>',
        'change one field of the data, such as paymentMethod.type=wallet; may be repeated',
        pairs,
      ],
      ['--list', 'list the event types'],
    ],
    examples: [
      ['trigger payment.captured'],
      ['trigger payment.failed --override failure.code=expired_card --override amount=999'],
      ['trigger payment.captured --data @payment.json'],
      ['trigger --list'],
    ],
    run: async (session, options, type) => {
      const sandbank = await session.sandbank();
      if (options.list) {
        if (type !== undefined) throw wrongUsage('--list takes no event type.');
        return listTypes(session, await sandbank.capabilities());
      }
      if (type === undefined)
        throw wrongUsage('The event type is missing, such as payment.captured. --list shows all types.');
      const given = options.data === undefined ? undefined : parse(await readData(session, options.data));
      const overrides = Object.entries(options.override ?? {});
      const base =
        given ?? (overrides.length === 0 ? undefined : exampleOf(await sandbank.capabilities(), type));
      const data =
        base === undefined
          ? undefined
          : overrides.reduce((whole, [path, value]) => withField(whole, path, looseJson(value)), base);
      const event = await sandbank.events.create({
        type: type as EventCreate['type'],
        ...(data === undefined ? {} : { data }),
      });
      session.out.show(event, () =>
        fields([
          ['event', event.id],
          ['type', event.type],
          ['resource', event.resourceId],
        ]),
      );
      return undefined;
    },
  });
}

function listTypes({ out }: Session, { events }: Capabilities): undefined {
  const data = events.map(({ type, resource, description }) => ({ type, resource, description }));
  out.show({ object: 'list', sandbox: true, status: 'ok', data }, () =>
    table(
      ['TYPE', 'DESCRIPTION'],
      data.map(({ type, description }) => [type, description]),
    ),
  );
  return undefined;
}

function exampleOf({ events }: Capabilities, type: string): Data {
  const found = events.find((event) => event.type === type);
  if (!found)
    throw wrongUsage(`The server has no event type "${type}". "sandbank trigger --list" shows all types.`);
  return found.example.data;
}

async function readData({ stdin }: Session, from: string): Promise<string> {
  if (from === '-') return text(stdin);
  return from.startsWith('@') ? readFile(from.slice(1), 'utf8') : from;
}

function parse(json: string): Data {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Data;
  } catch {
    // Reported below.
  }
  throw wrongUsage('--data must be a JSON object, @FILE, or - for standard input.');
}

/** The same data with one field set. Missing objects on the path are created; list positions are numbers. */
export function withField(data: Data, path: string, value: unknown): Data {
  const [name = '', ...rest] = path.split('.');
  if (name === '' || name === '__proto__')
    throw wrongUsage(`"${path}" is not a valid path. Write it as paymentMethod.type.`);
  const inner = data[name];
  const next =
    rest.length === 0
      ? value
      : withField(typeof inner === 'object' && inner !== null ? (inner as Data) : {}, rest.join('.'), value);
  if (!Array.isArray(data)) return { ...data, [name]: next };
  return Object.assign([...(data as unknown[])], { [name]: next }) as unknown as Data;
}
