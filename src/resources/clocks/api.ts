import { type Static, Type } from 'typebox';
import type { Resource } from '../../kernel/command.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { limits } from '../../kernel/limits.ts';
import type { Route } from '../../kernel/route.ts';
import { component, exactlyOne, nullable, resource, strict, Time } from '../../kernel/schema.ts';
import {
  type BeginAdvance,
  beginAdvance,
  clockFace,
  clockMachine,
  freezeClock,
  resetClock,
} from './machine.ts';
import { findClock } from './store.ts';
import { type ClockRow, clockStates, clocksTable } from './table.ts';

const secondsMax = limits.clockAheadDaysMax * 86_400;

const AdvanceBody = strict(
  {
    seconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: secondsMax, description: 'How far to move it forward.' }),
    ),
    to: Type.Optional(Type.String({ format: 'date-time', description: 'Where to move it: RFC 3339.' })),
  },
  exactlyOne('seconds', 'to'),
);

const shown = {
  now: Time,
  offsetSeconds: Type.Integer({ description: 'How far it is ahead of real time; whole seconds.' }),
} as const;

const ClockSchema = resource('clock', clockStates, shown);

const EffectSchema = Type.Object({
  at: Time,
  type: Type.String({ description: 'The kind of record that moved, or `delivery` for an attempt.' }),
  id: Type.String(),
  action: Type.String(),
  from: Type.Optional(Type.String()),
  to: Type.Optional(Type.String()),
  event: Type.Optional(Type.String({ description: 'The event that tells of it.' })),
});

const AdvancedSchema = resource('clock', clockStates, {
  ...shown,
  complete: Type.Boolean({
    description: `Whether all that was due has happened. One call takes at most ${limits.clockAdvanceStepsMax} steps and ${limits.clockAdvanceMsMax / 1000} seconds.`,
  }),
  left: Type.Optional(
    Type.Object(
      {
        timers: Type.Integer(),
        deliveries: Type.Integer(),
        passedOver: Type.Integer({
          description: 'Deliveries among them that were due before `now`: they are sent late.',
        }),
        nextAt: Time,
        to: Time,
      },
      {
        description:
          'When it is not complete: how much is left, and where the clock was to go. Advance again.',
      },
    ),
  ),
  next: Type.Optional(
    nullable(
      Type.Object(
        {
          at: Time,
          type: Type.String({ description: 'The kind of record, or `delivery` for an attempt.' }),
          id: Type.Optional(Type.String({ description: 'The record; absent for a delivery.' })),
        },
        {
          ...component('ClockNextStep'),
          description: 'When it is complete: what is scheduled next, or null when nothing is.',
        },
      ),
    ),
  ),
  happened: Type.Array(EffectSchema, { description: 'What the clock has brought about, in order.' }),
});

function presentClock(clock: ClockRow, wallNow: number): Presented {
  return { object: 'clock', sandbox: true, ...clockFace(clock, wallNow) };
}

export const clockResource: Resource<ClockRow> = {
  name: 'clock',
  table: clocksTable,
  machine: clockMachine,
  // The answer to a change shows the clock as it was at that very moment.
  present: (row) => presentClock(row, row.updatedAt),
  emitsEvents: false,
};

function advanceInput(body: Static<typeof AdvanceBody>): BeginAdvance['by'] {
  return body.seconds === undefined ? { to: Date.parse(body.to ?? '') } : { seconds: body.seconds };
}

const meta = {
  tag: 'Clock',
  response: ClockSchema,
  responseName: 'Clock',
} as const;
const writing = { ...meta, method: 'POST', scope: ['payments:write', 'transfers:write'] } as const;

export const clockRoutes: readonly Route[] = [
  {
    ...meta,
    operationId: 'getClock',
    method: 'GET',
    path: 'developer_api_clock',
    scope: 'any',
    summary: "The application's clock",
    read: ({ reader, principal, now }) =>
      findClock(reader, principal, now).then((clock) => presentClock(clock, now)),
  },
  {
    ...writing,
    operationId: 'advanceClock',
    path: 'developer_api_clock/advance',
    summary: 'Move the clock forward and run all that falls due, in order; answers when it is done',
    body: AdvanceBody,
    bodyName: 'ClockAdvance',
    response: AdvancedSchema,
    responseName: 'ClockAdvanced',
    target: 'clock',
    command: beginAdvance,
    input: ({ body }) => advanceInput(body as Static<typeof AdvanceBody>),
  },
  {
    ...writing,
    operationId: 'freezeClock',
    path: 'developer_api_clock/freeze',
    summary: 'Stop the clock where it is',
    target: 'clock',
    command: freezeClock,
    input: () => null,
  },
  {
    ...writing,
    operationId: 'resetClock',
    path: 'developer_api_clock/reset',
    summary: 'Return to real time',
    target: 'clock',
    command: resetClock,
    input: () => null,
  },
];
