import type { Command } from 'commander';
import type { Capabilities, EventCreate } from '../../sdk/client.ts';
import { declare } from '../declare.ts';
import { fieldValues } from '../generated/values.ts';
import { type JsonObject, jsonObject, readData, withField } from '../json-data.ts';
import { fields, table } from '../layout.ts';
import { wrongUsage } from '../problem.ts';
import { choice, looseJson, pairs } from '../reading.ts';
import type { Session } from '../session.ts';

interface TriggerOptions {
  readonly data?: string;
  readonly override?: Readonly<Record<string, string>>;
  readonly list?: true;
}

const dataMessage = '--data must be a JSON object, @FILE, or - for standard input.';

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
      const sentData =
        options.data === undefined
          ? undefined
          : jsonObject(await readData(session, options.data), dataMessage);
      const overrides = Object.entries(options.override ?? {});
      const base =
        sentData ?? (overrides.length === 0 ? undefined : exampleOf(await sandbank.capabilities(), type));
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

function exampleOf({ events }: Capabilities, type: string): JsonObject {
  const found = events.find((event) => event.type === type);
  if (!found)
    throw wrongUsage(`The server has no event type "${type}". "sandbank trigger --list" shows all types.`);
  return found.example.data;
}
