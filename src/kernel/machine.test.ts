import { describe, expect, it } from 'vitest';
import { change } from './command.ts';
import { allowedActions, arrivalOf, defineMachine, eventTypes, finalStates, refuseMove } from './machine.ts';

interface Door {
  readonly orgId: string;
  readonly id: string;
  readonly status: string;
  readonly version: number;
  readonly updatedAt: number;
}

const at = (status: string, version = 1): Door => ({
  orgId: 'o',
  id: 'i',
  status,
  version,
  updatedAt: 0,
});

const door = defineMachine<Door>({
  resource: 'customer',
  states: ['open', 'shut', 'gone'],
  moves: [
    { action: 'build', from: [], to: ['open'], event: 'built' },
    { action: 'shut', from: ['open'], to: ['shut'], event: 'shut' },
    { action: 'remove', from: ['open', 'shut'], to: ['gone'], event: 'removed' },
  ],
});

describe('a machine', () => {
  it('allows what its table says, in the order of the table', () => {
    expect(allowedActions(door, at('open'))).toEqual(['shut', 'remove']);
    expect(allowedActions(door, at('gone'))).toEqual([]);
  });

  it('refuses a move from another state, naming the state and what is open', () => {
    expect(refuseMove(door, 'shut', at('open'))).toBeUndefined();
    expect(refuseMove(door, 'shut', at('shut'))).toMatchObject({
      code: 'invalid_state_transition',
      details: { status: 'shut', action: 'shut' },
      allowedActions: ['remove'],
    });
    expect(refuseMove(door, 'shut', at('gone'))?.message).toContain('nothing is open');
  });

  it('throws when a decision arrives where the table does not say: that is our bug', () => {
    expect(() => arrivalOf(door, 'shut', at('open'), at('gone'))).toThrow('must not lead');
    expect(() => arrivalOf(door, 'shut', null, at('shut'))).toThrow('must not lead');
    expect(() => refuseMove(door, 'fly', at('open'))).toThrow('no action');
  });

  it('cannot be defined with a state that it does not list', () => {
    expect(() =>
      defineMachine({
        resource: 'customer',
        states: ['a'],
        moves: [{ action: 'go', from: ['a'], to: ['b'], event: 'gone' }],
      }),
    ).toThrow('unknown state');
  });

  it('takes the event of a change from the table and insists that versions count up', () => {
    expect(change(door, 'build', null, at('open'))).toMatchObject({ event: 'customer.built', from: null });
    expect(() => change(door, 'shut', at('open'), at('shut'))).toThrow('version');
  });
});

/** A gate that opens only when it is oiled, stays as it is when painted, and is carried away by somebody else. */
const gate = defineMachine<Door & { readonly isOiled?: boolean }>({
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
  it('with a condition is open only when it holds, and a refusal says so', () => {
    expect(allowedActions(gate, { ...at('shut'), isOiled: true })).toEqual(['open', 'paint']);
    expect(allowedActions(gate, at('shut'))).toEqual(['paint']);
    expect(refuseMove(gate, 'open', at('shut'))?.message).toContain('cannot open (only when it is oiled)');
    expect(refuseMove(gate, 'open', at('open'))?.message).not.toContain('oiled');
    expect(() => arrivalOf(gate, 'open', at('shut'), at('open'))).toThrow('must not lead');
  });

  it("that another record brings is in nobody's hands, but may be made", () => {
    expect(allowedActions(gate, at('open'))).toEqual(['paint']);
    expect(refuseMove(gate, 'carry', at('open'))).toMatchObject({ code: 'invalid_state_transition' });
    expect(change(gate, 'carry', at('open'), at('carried', 2)).event).toBe('customer.carried');
  });

  it('tells its event by the state of arrival, unless it names one', () => {
    expect(arrivalOf(gate, 'build', null, at('shut'))).toEqual({ event: 'shut', emitsNoEvent: false });
    expect(arrivalOf(gate, 'paint', at('open'), at('open', 2))).toEqual({
      event: 'painted',
      emitsNoEvent: false,
    });
    expect(eventTypes(gate)).toEqual([
      ...['customer.shut', 'customer.open', 'customer.painted', 'customer.polished', 'customer.carried'],
    ]);
  });

  it('that stays does not keep a state from being final', () => {
    expect(finalStates(gate)).toEqual(['carried']);
  });

  it('has words for every event that it tells, or for none, and for nothing else', () => {
    const moves = [...door.moves, { action: 'oil', from: ['open'], to: ['open'], emitsNoEvent: true as const }];
    const told = { built: 'It stands.', shut: 'It is shut.', removed: 'It is gone.' };
    expect(defineMachine({ ...door, moves, eventDescriptions: told }).eventDescriptions).toBe(told);
    const { removed: _removed, ...fewer } = told;
    expect(() => defineMachine({ ...door, eventDescriptions: fewer })).toThrow('removed has no words');
    const more = { ...told, open: 'It was oiled.' };
    expect(() => defineMachine({ ...door, moves, eventDescriptions: more })).toThrow('open has words');
  });
});
