import type { Command } from 'commander';
import type { EventReplay } from '../../sdk/client.ts';
import { declare, group } from '../declare.ts';
import { follow, recent } from '../follow.ts';
import { fieldValues } from '../generated/values.ts';
import { untilInterrupted } from '../interrupt.ts';
import { fields } from '../layout.ts';
import type { Output } from '../output.ts';
import { listOf, type Since, since, whole } from '../reading.ts';

interface TailOptions {
  readonly types?: readonly string[];
  readonly last?: number;
  readonly since?: Since;
  readonly follow?: true;
}

const lastDefault = 20;
const lastMax = 10_000;

export function addEvents(program: Command): void {
  const events = group(program, 'events', 'Watch, retrieve and replay events');
  declare<TailOptions>(events, 'tail', {
    summary: 'Show recent events, and follow new ones with --follow',
    options: [
      [
        '--types <types>',
        'only these types, such as payment.captured or payment.*',
        listOf(fieldValues.createWebhook.eventTypes),
      ],
      ['--last <count>', `number of past events to show (${lastDefault})`, whole(0, lastMax)],
      ['--since <time>', 'events since this instant, or for a duration such as 10m', since],
      ['--follow', 'keep running until Ctrl-C'],
    ],
    examples: [
      ['events tail'],
      ["events tail --follow --types 'payment.*'"],
      ['events tail --since 1h --json | jq .type'],
    ],
    run: async (session, { types, last, since, follow: isFollowing }) => {
      const { out } = session;
      const sandbank = await session.sandbank();
      const backlog = () =>
        recent(sandbank, { since, types, last: last ?? (since === undefined ? lastDefault : lastMax) });
      if (!isFollowing) {
        for (const event of await backlog()) showEvent(out, event);
        return undefined;
      }
      const following = follow(sandbank, {
        signal: untilInterrupted(),
        eventTypes: types,
        backlog,
        out,
        onOpen: () => out.say('Following. Press Ctrl-C to stop.'),
      });
      for await (const event of following) showEvent(out, event);
      return undefined;
    },
  });
  declare(events, 'get <id>', {
    summary: 'Show an event with its data',
    examples: [['events get evt_... --json']],
    run: async (session, _options, id = '') => {
      const event = await (await session.sandbank()).events.retrieve(id);
      session.out.show(
        event,
        () =>
          `${fields([
            ['event', event.id],
            ['type', event.type],
            ['at', event.timestamp],
            ['resource', event.resourceId],
            ['sequence', event.sequence],
            ['request', event.originRequestId],
          ])}\n\n${JSON.stringify(event.data, null, 2)}`,
      );
      return undefined;
    },
  });
  declare<{ readonly webhook?: string }>(events, 'replay <id>', {
    summary: 'Send an event again, with the same id, to endpoints and listeners',
    options: [['--webhook <id>', 'only to this endpoint']],
    examples: [['events replay evt_...']],
    run: async (session, { webhook }, id = '') => {
      const replay = await (await session.sandbank()).events.replay(
        id,
        webhook === undefined ? {} : { webhookId: webhook },
      );
      session.out.show(replay, () => replayedText(replay));
      return undefined;
    },
  });
}

export function replayedText({ eventId, replayed, deliveryIds }: EventReplay): string {
  return fields([
    ['event', eventId],
    ['endpoints', replayed],
    ['deliveries', deliveryIds.join(' ')],
  ]);
}

interface ShownEvent {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly resourceId: string;
  readonly isReplay?: boolean;
}

function showEvent(out: Output, event: ShownEvent): void {
  const { id, type, timestamp, resourceId, isReplay = false } = event;
  out.show(
    event,
    () =>
      `${out.paint.dim(timestamp)}  ${out.paint.cyan(type)}  ${id}  ${resourceId}${isReplay ? '  (replay)' : ''}`,
  );
}
