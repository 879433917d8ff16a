import { type Static, Type } from 'typebox';
import type { Resource } from '../../kernel/command.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { limits } from '../../kernel/limits.ts';
import type { Route } from '../../kernel/route.ts';
import { component, exactlyOne, nullable, resource, strict, Time } from '../../kernel/schema.ts';
import { daySeconds } from '../../kernel/time.ts';
import { writeRoute } from '../../kernel/write-route.ts';
import {
  type BeginAdvance,
  beginAdvance,
  clockFace,
  clockMachine,
  freezeClock,
  resetClock,
  resumeClock,
} from './machine.ts';
import { findClock } from './store.ts';
import { type ClockRow, clockStates, clocksTable } from './table.ts';

const secondsMax = limits.clockAheadDaysMax * daySeconds;

const AdvanceBody = strict(
  {
    seconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: secondsMax, description: 'How far to move the clock forward.' }),
    ),
    to: Type.Optional(
      Type.String({ format: 'date-time', description: 'The time to move the clock to, in RFC 3339 format.' }),
    ),
  },
  exactlyOne('seconds', 'to'),
);

const clockFields = {
  now: Time,
  offsetSeconds: Type.Integer({ description: 'How far the clock is ahead of real time, in whole seconds.' }),
} as const;

const ClockSchema = resource('clock', clockStates, clockFields);

const EffectSchema = Type.Object({
  at: Time,
  type: Type.String({ description: 'The kind of record that moved, or `delivery` for an attempt.' }),
  id: Type.String(),
  action: Type.String(),
  from: Type.Optional(Type.String()),
  to: Type.Optional(Type.String()),
  event: Type.Optional(Type.String({ description: 'The type of the emitted event.' })),
});

const AdvancedSchema = resource('clock', clockStates, {
  ...clockFields,
  complete: Type.Boolean({
    description: `Whether everything that was due has been processed. One call takes at most ${limits.clockAdvanceStepsMax} steps and ${limits.clockAdvanceMsMax / 1000} seconds.`,
  }),
  left: Type.Optional(
    Type.Object(
      {
        timers: Type.Integer(),
        deliveries: Type.Integer(),
        passedOver: Type.Integer({
          description: 'The deliveries among them that were due before `now`; they are sent late.',
        }),
        nextAt: Time,
        to: Time,
      },
      {
        description:
          'If the advance is not complete: the remaining work and the requested time. Advance again.',
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
          description: 'If the advance is complete: the next scheduled step, or null if there is none.',
        },
      ),
    ),
  ),
  happened: Type.Array(EffectSchema, { description: 'The effects of the advance, in order.' }),
});

function presentClock(clock: ClockRow, wallNow: number): Presented {
  return { object: 'clock', sandbox: true, ...clockFace(clock, wallNow) };
}

export const clockResource: Resource<ClockRow> = {
  name: 'clock',
  table: clocksTable,
  machine: clockMachine,
  // The response to a change shows the clock at the instant of the change.
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
  writeRoute({
    ...writing,
    operationId: 'advanceClock',
    path: 'developer_api_clock/advance',
    summary: 'Move the clock forward and process everything that falls due, in order; responds when done',
    body: AdvanceBody,
    bodyName: 'ClockAdvance',
    response: AdvancedSchema,
    responseName: 'ClockAdvanced',
    target: 'clock',
    command: beginAdvance,
    input: ({ body }) => advanceInput(body),
    prepare: ({ requested, request }, { runs }) => runs.advanceClock(requested, request),
  }),
  writeRoute({
    ...writing,
    operationId: 'freezeClock',
    path: 'developer_api_clock/freeze',
    summary: 'Stop the clock at its current time',
    target: 'clock',
    command: freezeClock,
    input: () => null,
  }),
  writeRoute({
    ...writing,
    operationId: 'resumeClock',
    path: 'developer_api_clock/resume',
    summary: 'Let a frozen clock run on from its time',
    target: 'clock',
    command: resumeClock,
    input: () => null,
  }),
  writeRoute({
    ...writing,
    operationId: 'resetClock',
    path: 'developer_api_clock/reset',
    summary: 'Reset to real time',
    target: 'clock',
    command: resetClock,
    input: () => null,
  }),
];
