import type { Command } from 'commander';
import type { Capabilities, EventCreate } from '../../sdk/client.ts';
import { declare } from '../declare.ts';
import { type JsonObject, jsonObject, readData, withField } from '../json-data.ts';
import { fields, table } from '../layout.ts';
import { wrongUsage } from '../problem.ts';
import { looseJson, pairs } from '../reading.ts';
import type { Session } from '../session.ts';

interface TriggerOptions {
  readonly data?: string;
  readonly override?: Readonly<Record<string, string>>;
  readonly list?: true;
}

const dataMessage = '--data must be a JSON object, @FILE, or - for the standard input.';

export function addTrigger(program: Command): void {
  declare<TriggerOptions>(program, 'trigger [type]', {
    summary: 'Make an event by hand; it is sent to all endpoints and listeners that want its type',
    details: 'Without data the example of the type is sent. No record is changed.',
    options: [
      ['--data <json>', 'data of the event: JSON, @FILE, or - for the standard input'],
      [
        '--override <path=value>',
        'change one field of the data, such as paymentMethod.type=wallet; may be repeated',
        pairs,
      ],
      ['--list', 'list the types with what they tell'],
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
        if (type !== undefined) throw wrongUsage('--list stands alone.');
        return listTypes(session, await sandbank.capabilities());
      }
      if (type === undefined)
        throw wrongUsage('The type is missing, such as payment.captured; --list shows them all.');
      const given =
        options.data === undefined
          ? undefined
          : jsonObject(await readData(session, options.data), dataMessage);
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
          ['tells of', event.resourceId],
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
      ['TYPE', 'WHAT HAS HAPPENED'],
      data.map(({ type, description }) => [type, description]),
    ),
  );
  return undefined;
}

function exampleOf({ events }: Capabilities, type: string): JsonObject {
  const found = events.find((event) => event.type === type);
  if (!found) throw wrongUsage(`There is no event type "${type}"; "sandbank trigger --list" shows them all.`);
  return found.example.data;
}
