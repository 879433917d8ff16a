import { describe, expect, it } from 'vitest';
import { change } from './command.ts';
import { formatId, type Id } from './ids.ts';
import {
  allowedActions,
  arrivalOf,
  defineMachine,
  eventTypes,
  finalStates,
  recordedEventType,
  refuseMove,
} from './machine.ts';

interface Door {
  readonly orgId: Id<'organization'>;
  readonly id: string;
  readonly status: 'open' | 'shut' | 'gone' | 'carried';
  readonly version: number;
  readonly updatedAt: number;
}

const at = (status: Door['status'], version = 1): Door => ({
  orgId: formatId('organization', '1'),
  id: 'i',
  status,
  version,
  updatedAt: 0,
});

const door = defineMachine<Door>()({
  resource: 'customer',
  states: ['open', 'shut', 'gone'],
  moves: [
    { action: 'build', from: [], to: ['open'], event: 'built' },
    { action: 'shut', from: ['open'], to: ['shut'], event: 'shut' },
    { action: 'remove', from: ['open', 'shut'], to: ['gone'], event: 'removed' },
  ],
});

describe('a machine', () => {
  it('allows the moves of its table, in table order', () => {
    expect(allowedActions(door, at('open'))).toEqual(['shut', 'remove']);
    expect(allowedActions(door, at('gone'))).toEqual([]);
  });

  it('refuses a move from another state, with the state and the allowed actions', () => {
    expect(refuseMove(door, 'shut', at('open'))).toBeUndefined();
    expect(refuseMove(door, 'shut', at('shut'))).toMatchObject({
      code: 'invalid_state_transition',
      details: { status: 'shut', action: 'shut' },
      allowedActions: ['remove'],
    });
    expect(refuseMove(door, 'shut', at('gone'))?.message).toBe(
      'Cannot shut a gone customer; no further actions are allowed.',
    );
  });

  it('throws when a decision ends in a state that the table does not list', () => {
    expect(() => arrivalOf(door, 'shut', at('open'), at('gone'))).toThrow('must not lead');
    expect(() => arrivalOf(door, 'shut', null, at('shut'))).toThrow('must not lead');
    // @ts-expect-error The table has no such action.
    expect(() => refuseMove(door, 'fly', at('open'))).toThrow('no action');
  });

  it('names the event of a recorded move, also of one that it no longer lists', () => {
    expect(recordedEventType(door, 'build', null, 'open')).toBe('customer.built');
    expect(recordedEventType(door, 'remove', 'shut', 'gone')).toBe('customer.removed');
    expect(recordedEventType(door, 'paint', 'open', 'open')).toBe('customer.open');
  });

  it('cannot be defined with two events for one action between the same states', () => {
    const shut = { action: 'shut', from: ['open'], to: ['shut'] } as const;
    const define = () =>
      defineMachine<Door>()({
        resource: 'customer',
        states: ['open', 'shut'],
        moves: [shut, { ...shut, event: 'slammed' }],
      });
    expect(define).toThrow('customer: shut from open to shut has two events');
  });

  it('cannot be defined with a state that it does not list', () => {
    expect(() =>
      defineMachine<Door>()({
        resource: 'customer',
        states: ['open'],
        // @ts-expect-error The table does not list this state.
        moves: [{ action: 'go', from: ['open'], to: ['shut'], event: 'gone' }],
      }),
    ).toThrow('unknown state');
  });

  it('takes the event of a change from the table and insists that versions count up', () => {
    expect(change(door, 'build', null, at('open'))).toMatchObject({ event: 'customer.built', from: null });
    expect(() => change(door, 'shut', at('open'), at('shut'))).toThrow('version');
  });
});

/** A gate that opens only when it is oiled, keeps its state when painted, and is carried away by another record. */
const gate = defineMachine<Door & { readonly isOiled?: boolean }>()({
  resource: 'customer',
  states: ['shut', 'open', 'carried'],
  moves: [
    { action: 'build', from: [], to: ['shut'] },
    {
      action: 'open',
      from: ['shut'],
      to: ['open'],
      when: { description: 'it is oiled', holds: ({ isOiled }) => isOiled === true },
    },
    { action: 'paint', from: ['shut', 'open'], to: ['shut', 'open'], event: 'painted' },
    { action: 'polish', from: ['carried'], to: ['carried'], event: 'polished', stays: true },
    { action: 'carry', from: ['shut', 'open'], to: ['carried'], triggeredBy: 'refund' },
  ],
});

describe('a move', () => {
  it('with a condition is allowed only when it holds, and the refusal names the condition', () => {
    expect(allowedActions(gate, { ...at('shut'), isOiled: true })).toEqual(['open', 'paint']);
    expect(allowedActions(gate, at('shut'))).toEqual(['paint']);
    expect(refuseMove(gate, 'open', at('shut'))?.message).toBe(
      'Cannot open a shut customer (only when it is oiled); allowed actions: paint.',
    );
    expect(refuseMove(gate, 'open', at('open'))?.message).not.toContain('oiled');
    expect(() => arrivalOf(gate, 'open', at('shut'), at('open'))).toThrow('must not lead');
  });

  it('that another record triggers cannot be requested, but can be applied', () => {
    expect(allowedActions(gate, at('open'))).toEqual(['paint']);
    expect(refuseMove(gate, 'carry', at('open'))).toMatchObject({ code: 'invalid_state_transition' });
    expect(change(gate, 'carry', at('open'), at('carried', 2)).event).toBe('customer.carried');
  });

  it('emits an event named after the target state, unless it names one', () => {
    expect(arrivalOf(gate, 'build', null, at('shut'))).toEqual({ event: 'shut', emitsNoEvent: false });
    expect(arrivalOf(gate, 'paint', at('open'), at('open', 2))).toEqual({
      event: 'painted',
      emitsNoEvent: false,
    });
    expect(eventTypes(gate)).toEqual([
      ...['customer.shut', 'customer.open', 'customer.painted', 'customer.polished', 'customer.carried'],
    ]);
  });

  it('that stays in its state does not prevent the state from being final', () => {
    expect(finalStates(gate)).toEqual(['carried']);
  });

  it('describes every event that it emits, or none, and nothing else', () => {
    const oil = { action: 'oil', from: ['open'], to: ['open'], emitsNoEvent: true } as const;
    const moves = [...door.moves, oil];
    const descriptions = { built: 'It is built.', shut: 'It is shut.', removed: 'It is gone.' };
    expect(defineMachine<Door>()({ ...door, moves, eventDescriptions: descriptions }).eventDescriptions).toBe(
      descriptions,
    );
    const { removed: _removed, ...fewer } = descriptions;
    expect(() => defineMachine<Door>()({ ...door, eventDescriptions: fewer })).toThrow(
      'removed has no description',
    );
    const more = { ...descriptions, open: 'It was oiled.' };
    expect(() => defineMachine<Door>()({ ...door, moves, eventDescriptions: more })).toThrow(
      'open has a description',
    );
  });
});
