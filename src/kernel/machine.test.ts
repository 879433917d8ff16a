import { describe, expect, it } from 'vitest';
import { change } from './command.ts';
import { allowedActions, assertArrival, defineMachine, refuseMove } from './machine.ts';

const door = defineMachine({
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
    expect(allowedActions(door, 'open')).toEqual(['shut', 'remove']);
    expect(allowedActions(door, 'gone')).toEqual([]);
  });

  it('refuses a move from another state, naming the state and what is open', () => {
    expect(refuseMove(door, 'shut', 'open')).toBeUndefined();
    expect(refuseMove(door, 'shut', 'shut')).toMatchObject({
      code: 'invalid_state_transition',
      details: { status: 'shut', action: 'shut' },
      allowedActions: ['remove'],
    });
    expect(refuseMove(door, 'shut', 'gone')?.message).toContain('final');
  });

  it('throws when a decision arrives where the table does not say: that is our bug', () => {
    expect(() => assertArrival(door, 'shut', 'open', 'gone')).toThrow('must not lead');
    expect(() => assertArrival(door, 'shut', null, 'shut')).toThrow('must not lead');
    expect(() => refuseMove(door, 'fly', 'open')).toThrow('no action');
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
    const row = { orgId: 'o', id: 'i', status: 'open', version: 1 };
    expect(change(door, 'build', null, row)).toMatchObject({ event: 'customer.built', from: null });
    expect(() => change(door, 'shut', 'open', { ...row, status: 'shut' })).toThrow('version');
  });
});
