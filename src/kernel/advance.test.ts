import { describe, expect, it } from 'vitest';
import { type Advance, advance, type Position, type Rules } from './advance.ts';
import { type Refusal, refuse } from './errors.ts';
import { type ActionOf, defineMachine, type StateOf } from './machine.ts';

interface Light {
  readonly status: 'green' | 'yellow' | 'red' | 'blinking' | 'off' | 'stolen';
  readonly isBroken: boolean;
}

/** Two paths from green to off: via yellow and red, or directly via blinking. */
const machine = defineMachine<Light>()({
  resource: 'customer',
  states: ['green', 'yellow', 'red', 'blinking', 'off', 'stolen'],
  moves: [
    { action: 'slow', from: ['green'], to: ['yellow'] },
    { action: 'stop', from: ['yellow'], to: ['red'] },
    { action: 'dim', from: ['red'], to: ['off'] },
    { action: 'blink', from: ['green'], to: ['blinking'] },
    {
      action: 'rest',
      from: ['blinking'],
      to: ['off'],
      when: { description: 'it is whole', holds: ({ isBroken }) => !isBroken },
    },
    { action: 'go', from: ['red', 'off'], to: ['green'] },
    { action: 'steal', from: ['off'], to: ['stolen'], triggeredBy: 'refund' },
  ],
});

type At = Position<Light> & { readonly path: readonly string[]; readonly params: readonly (string | null)[] };

type State = StateOf<typeof machine>;
type Action = ActionOf<typeof machine>;

const arrivals = new Map(machine.moves.map(({ action, to }) => [action, to[0]]));
const start = (status: State, isBroken = false): At => ({
  ok: true,
  row: { status, isBroken },
  changes: [],
  path: [],
  params: [],
});

const rules: Rules<Light, State, Action, string | null, At> = {
  machine,
  defaults: null,
  next: ({ row }) => (row.status === 'green' ? { action: 'slow', params: 'own' } : undefined),
  apply: (at, { action, params }) => {
    if (params === 'refused') return refuse('unsupported_currency');
    return {
      ...at,
      row: { ...at.row, status: arrivals.get(action) ?? at.row.status },
      path: [...at.path, action],
      params: [...at.params, params],
    };
  },
};

const run = (
  request: Advance<State, Action, string | null>,
  at: At,
  more: Partial<typeof rules> = {},
): At | Refusal => advance(request, at, { ...rules, ...more });
const to = (state: State, params: string | null = null) => ({ by: 'to', to: state, params }) as const;

describe('the next step', () => {
  it('is the automatic step of the record', () => {
    expect(run({ by: 'next' }, start('green'))).toMatchObject({ path: ['slow'], params: ['own'] });
  });

  it('is refused when there is none, or when the table does not allow it', () => {
    expect(run({ by: 'next' }, start('red'))).toMatchObject({
      code: 'invalid_state_transition',
      message: 'A red customer has no automatic next step; allowed actions: dim, go.',
      details: { status: 'red' },
      allowedActions: ['dim', 'go'],
    });
    const wrong = { next: () => ({ action: 'dim', params: null }) as const };
    expect(run({ by: 'next' }, start('green'), wrong)).toMatchObject({ code: 'invalid_state_transition' });
  });
});

describe('a named action', () => {
  it('takes its parameters', () => {
    const request = { by: 'action', action: 'blink', params: 'x' } as const;
    expect(run(request, start('green'))).toMatchObject({ path: ['blink'], params: ['x'] });
  });

  it('is refused where it is not allowed, with the unmet condition', () => {
    const rest = { by: 'action', action: 'rest', params: null } as const;
    expect(run(rest, start('green'))).toMatchObject({ details: { status: 'green', action: 'rest' } });
    const refusal = run(rest, start('blinking', true)) as Refusal;
    expect(refusal.message).toContain('only when it is whole');
    expect(refusal.allowedActions).toEqual([]);
  });

  it('that another record triggers cannot be requested', () => {
    const steal = { by: 'action', action: 'steal', params: null } as const;
    expect(run(steal, start('off'))).toMatchObject({ code: 'invalid_state_transition' });
  });
});

describe('a path', () => {
  it('is the shortest, and only its last step takes the parameters', () => {
    expect(run(to('off', 'x'), start('green'))).toMatchObject({
      path: ['blink', 'rest'],
      params: [null, 'x'],
    });
  });

  it('takes a longer route where a condition blocks the shortest', () => {
    expect(run(to('off'), start('green', true))).toMatchObject({ path: ['slow', 'stop', 'dim'] });
  });

  it('is refused to the current state, and to an unreachable one', () => {
    expect(run(to('green'), start('green'))).toMatchObject({
      code: 'invalid_state_transition',
      message: 'The customer is already green; allowed actions: slow, blink.',
      details: { status: 'green', to: 'green' },
    });
    expect(run(to('stolen'), start('green'))).toMatchObject({
      code: 'invalid_state_transition',
      message: 'A green customer cannot reach stolen; allowed actions: slow, blink.',
      details: { status: 'green', to: 'stolen' },
      allowedActions: ['slow', 'blink'],
    });
  });

  it('may contain moves that another record triggers, where the rules allow it', () => {
    const triggered = (at: At): readonly At[] =>
      at.row.status === 'off'
        ? [{ ...at, row: { ...at.row, status: 'stolen' }, path: [...at.path, 'steal'] }]
        : [];
    expect(run(to('stolen'), start('green'), { triggered })).toMatchObject({
      path: ['blink', 'rest', 'steal'],
    });
  });

  it('whose last step is refused is refused with the same reason', () => {
    expect(run(to('blinking', 'refused'), start('green'))).toMatchObject({ code: 'unsupported_currency' });
  });

  it('does not change the record that it starts from', () => {
    const at = start('green');
    run(to('off'), at);
    expect(at).toEqual(start('green'));
  });
});
