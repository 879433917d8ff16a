import { describe, expect, it } from 'vitest';
import { change } from './command.ts';
import { allowedActions, arrivalEvent, defineMachine, refuseMove } from './machine.ts';

interface Door {
  readonly orgId: string;
  readonly id: string;
  readonly status: string;
  readonly version: number;
}

const at = (status: string, version = 1): Door => ({ orgId: 'o', id: 'i', status, version });

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
    expect(() => arrivalEvent(door, 'shut', at('open'), at('gone'))).toThrow('must not lead');
    expect(() => arrivalEvent(door, 'shut', null, at('shut'))).toThrow('must not lead');
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
