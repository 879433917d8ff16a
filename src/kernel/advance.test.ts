import { describe, expect, it } from 'vitest';
import { type Advance, advance, type Position, type Rules } from './advance.ts';
import { type Refusal, refuse } from './errors.ts';
import { defineMachine } from './machine.ts';

interface Light {
  readonly status: string;
  readonly isBroken: boolean;
}

/** Two ways from green to off: over yellow and red, or at once over blinking. */
const machine = defineMachine<Light>({
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

const arrivals = new Map(machine.moves.map(({ action, to }) => [action, to[0] ?? '']));
const start = (status: string, isBroken = false): At => ({
  ok: true,
  row: { status, isBroken },
  changes: [],
  path: [],
  params: [],
});

const rules: Rules<Light, string | null, At> = {
  machine,
  defaults: null,
  next: ({ row }) => (row.status === 'green' ? { action: 'slow', params: 'own' } : undefined),
  apply: (at, { action, params }) => {
    if (params === 'refused') return refuse('unsupported_currency');
    return {
      ...at,
      row: { ...at.row, status: arrivals.get(action) ?? '' },
      path: [...at.path, action],
      params: [...at.params, params],
    };
  },
};

const run = (request: Advance<string | null>, at: At, more: Partial<typeof rules> = {}): At | Refusal =>
  advance(request, at, { ...rules, ...more });
const to = (state: string, params: string | null = null) => ({ by: 'to', to: state, params }) as const;

describe('the next step', () => {
  it('is what the record does by itself', () => {
    expect(run({ by: 'next' }, start('green'))).toMatchObject({ path: ['slow'], params: ['own'] });
  });

  it('is refused when there is none, or when its own table does not allow it', () => {
    expect(run({ by: 'next' }, start('red'))).toMatchObject({
      code: 'invalid_state_transition',
      details: { status: 'red' },
      allowedActions: ['dim', 'go'],
    });
    const wrong = { next: () => ({ action: 'dim', params: null }) };
    expect(run({ by: 'next' }, start('green'), wrong)).toMatchObject({ code: 'invalid_state_transition' });
  });
});

describe('a step by name', () => {
  it('takes its parameters', () => {
    const asked = { by: 'action', action: 'blink', params: 'x' } as const;
    expect(run(asked, start('green'))).toMatchObject({ path: ['blink'], params: ['x'] });
  });

  it('is refused where it is not open, with the condition that is not met', () => {
    const rest = { by: 'action', action: 'rest', params: null } as const;
    expect(run(rest, start('green'))).toMatchObject({ details: { status: 'green', action: 'rest' } });
    const refusal = run(rest, start('blinking', true)) as Refusal;
    expect(refusal.message).toContain('only when it is whole');
    expect(refusal.allowedActions).toEqual([]);
  });

  it('that another record brings cannot be asked for', () => {
    const steal = { by: 'action', action: 'steal', params: null } as const;
    expect(run(steal, start('off'))).toMatchObject({ code: 'invalid_state_transition' });
  });
});

describe('a way', () => {
  it('is the shortest, and only its last step takes the parameters', () => {
    expect(run(to('off', 'x'), start('green'))).toMatchObject({
      path: ['blink', 'rest'],
      params: [null, 'x'],
    });
  });

  it('takes another turn where a condition closes the shortest', () => {
    expect(run(to('off'), start('green', true))).toMatchObject({ path: ['slow', 'stop', 'dim'] });
  });

  it('is refused to where the record is, and to where no move leads', () => {
    expect(run(to('green'), start('green'))).toMatchObject({
      code: 'invalid_state_transition',
      details: { status: 'green', to: 'green' },
    });
    expect(run(to('stolen'), start('green'))).toMatchObject({
      code: 'invalid_state_transition',
      details: { status: 'green', to: 'stolen' },
      allowedActions: ['slow', 'blink'],
    });
  });

  it('may take what another record brings, where the rules say so', () => {
    const triggered = (at: At): readonly At[] =>
      at.row.status === 'off'
        ? [{ ...at, row: { ...at.row, status: 'stolen' }, path: [...at.path, 'steal'] }]
        : [];
    expect(run(to('stolen'), start('green'), { triggered })).toMatchObject({
      path: ['blink', 'rest', 'steal'],
    });
  });

  it('whose last step is refused is refused with the reason of that step', () => {
    expect(run(to('blinking', 'refused'), start('green'))).toMatchObject({ code: 'unsupported_currency' });
  });

  it('leaves the record that it started from as it was', () => {
    const at = start('green');
    run(to('off'), at);
    expect(at).toEqual(start('green'));
  });
});
