import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { StateMachine, TimelineItem } from '../../generated/shapes.ts';
import { type Label, layOut, nodeHeight, separateLabels } from './layout.ts';
import { allowedActions, edgesOf, isAllowedEdge, reachableStates } from './machine.ts';
import { stepsOf, wayToGoal } from './steps.ts';

/**
 * The server's state machines, read from the golden document docs/states.md: the example in docs/openapi.json is
 * shortened. `broughtBy` is the record in the last column.
 */
function readMachines(): readonly StateMachine[] {
  const document = readFileSync(new URL('../../../docs/states.md', import.meta.url), 'utf8');
  return document
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const names = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
      const rows = section.split('\n').filter((line) => line.startsWith('| `'));
      const moves = rows.map((row) => {
        const [action, from, to, events, condition = ''] = row.split('|').slice(1, -1);
        const stays = to?.trim() === 'unchanged';
        return {
          action: names(action)[0] ?? '',
          from: names(from),
          to: names(stays ? from : to),
          stays,
          events: names(events),
          condition: condition.trim() || null,
          broughtBy: /^ ?triggered by a (\w+)/.exec(condition)?.[1] ?? null,
        };
      });
      return {
        resource: /^(\w+) states/.exec(section)?.[1]?.toLowerCase() ?? '',
        states: [...new Set(moves.flatMap(({ from, to }) => [...from, ...to]))],
        goal: names(/^Goal: .*$/m.exec(section)?.[0])[0] ?? null,
        setbacks: names(/^Off the main path: .*$/m.exec(section)?.[0]),
        finalStates: names(/^Final states: .*$/m.exec(section)?.[0]),
        events: moves.flatMap(({ events }) => events),
        moves,
      };
    });
}

const machines = readMachines();
const machineOf = (resource: string): StateMachine => {
  const found = machines.find((one) => one.resource === resource);
  if (found === undefined) throw new Error(`docs/states.md has no ${resource}`);
  return found;
};

test('the golden document has every machine', () => {
  const sizes = machines.map(({ resource, states }) => [resource, states.length]);
  expect(sizes).toEqual([
    ['webhook', 3],
    ['customer', 2],
    ['payment', 14],
    ['refund', 4],
    ['dispute', 4],
    ['transfer', 12],
  ]);
  for (const { resource, moves } of machines) {
    expect(moves.length, resource).toBeGreaterThan(2);
    for (const { action, to } of moves) {
      expect(action, resource).not.toBe('');
      expect(to, `${resource} ${action}`).not.toEqual([]);
    }
  }
});

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

function boxOf({ x, y, width }: { x: number; y: number; width: number }): Box {
  return { left: x - width / 2, right: x + width / 2, top: y - nodeHeight / 2, bottom: y + nodeHeight / 2 };
}

/** The distance of a point from the border of a box, measured along the axes. */
function distanceToBorder({ left, right, top, bottom }: Box, x: number, y: number): number {
  const outside = Math.max(left - x, x - right, top - y, y - bottom);
  if (outside > 0) return outside;
  return Math.min(x - left, right - x, y - top, bottom - y);
}

function pointsOf(path: string): readonly (readonly [x: number, y: number])[] {
  return [...path.matchAll(/(-?[\d.]+),(-?[\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)] as const);
}

describe.each(machines.map((machine) => [machine.resource, machine] as const))('%s diagram', (_, machine) => {
  const diagram = layOut(machine);
  const boxes = new Map(diagram.nodes.map((node) => [node.state, boxOf(node)]));
  const boxFor = (state: string): Box => {
    const box = boxes.get(state);
    if (box === undefined) throw new Error(`${state} has no box`);
    return box;
  };

  test('places every state exactly once', () => {
    expect(diagram.nodes.map(({ state }) => state)).toEqual(machine.states);
  });

  test('keeps a gap between every two states', () => {
    const all = [...boxes];
    for (const [index, [state, a]] of all.entries()) {
      for (const [other, b] of all.slice(index + 1)) {
        const gap = Math.max(a.left - b.right, b.left - a.right, a.top - b.bottom, b.top - a.bottom);
        expect(gap, `${state} and ${other}`).toBeGreaterThanOrEqual(10);
      }
    }
  });

  test('draws an arrow for every transition between two states, and no other', () => {
    const drawn = diagram.edges.map(({ from, to }) => `${from} ${to}`);
    const moves = machine.moves
      .filter(({ stays }) => !stays)
      .flatMap(({ from, to }) => from.flatMap((source) => to.map((target) => [source, target] as const)))
      .filter(([source, target]) => source !== target)
      .map((pair) => pair.join(' '));
    expect(drawn.toSorted()).toEqual([...new Set(moves)].sort());
  });

  test('starts every arrow at the border of its source and ends it at the border of its target', () => {
    for (const { from, to, path } of diagram.edges) {
      const [start, ...rest] = pointsOf(path);
      const end = rest.at(-1);
      if (start === undefined || end === undefined) throw new Error(`${from} ${to} has no line`);
      // Coordinates are written with one decimal.
      expect(distanceToBorder(boxFor(from), ...start), `${from} to ${to}: start`).toBeLessThanOrEqual(0.1);
      expect(distanceToBorder(boxFor(to), ...end), `${from} to ${to}: end`).toBeLessThanOrEqual(0.1);
    }
  });

  test('keeps states, lines and label positions inside the drawing', () => {
    for (const [state, { left, right, top, bottom }] of boxes) {
      expect(Math.min(left, top), state).toBeGreaterThanOrEqual(0);
      expect(right, state).toBeLessThanOrEqual(diagram.width);
      expect(bottom, state).toBeLessThanOrEqual(diagram.height);
    }
    for (const { from, to, path, label } of diagram.edges) {
      for (const [x, y] of [...pointsOf(path), [label.x, label.y] as const]) {
        expect(x, `${from} to ${to}`).toBeGreaterThanOrEqual(0);
        expect(x, `${from} to ${to}`).toBeLessThanOrEqual(diagram.width);
        expect(y, `${from} to ${to}`).toBeGreaterThanOrEqual(0);
        expect(y, `${from} to ${to}`).toBeLessThanOrEqual(diagram.height);
      }
    }
  });

  test('starts at the left, and the way to the goal leads to the right', () => {
    const start = machine.moves.find(({ action }) => action === 'create' || action === 'quote')?.to[0];
    const first = start ?? machine.states[0] ?? '';
    const xs = [first, ...wayToGoal(machine, first)].map((state) => boxFor(state).left);
    expect(Math.min(...[...boxes.values()].map(({ left }) => left))).toBe(xs[0]);
    expect(xs).toEqual(xs.toSorted((a, b) => a - b));
  });

  test('makes every box wide enough for its name', () => {
    for (const { state, width } of diagram.nodes) expect(width, state).toBeGreaterThan(state.length * 6.5);
  });

  test('is the same every time', () => {
    expect(layOut(structuredClone(machine))).toEqual(diagram);
  });

  test('offers only states that a sequence of transitions can reach', () => {
    for (const status of machine.states) {
      const ahead = reachableStates(machine, status);
      expect(ahead).not.toContain(status);
      expect(ahead).toEqual(machine.states.filter((state) => ahead.includes(state)));
      const direct = machine.moves.filter(({ from }) => from.includes(status)).flatMap(({ to }) => to);
      for (const state of direct) if (state !== status) expect(ahead).toContain(state);
      for (const state of ahead) {
        const isReached = machine.moves.some(
          ({ from, to }) =>
            to.includes(state) && from.some((source) => source === status || ahead.includes(source)),
        );
        expect(isReached, `${status} to ${state}`).toBe(true);
      }
    }
  });

  test.each(machine.finalStates)('offers nothing after the final state %s', (state) => {
    expect(reachableStates(machine, state)).toEqual([]);
  });
});

describe('edges', () => {
  test('join all actions between the same two states', () => {
    const edge = edgesOf(machineOf('payment')).find(
      ({ from, to }) => from === 'partially_captured' && to === 'captured',
    );
    expect(edge?.actions).toEqual(['capture', 'cancel', 'expire']);
  });

  test.each([
    ['disputed', 'charged_back', true],
    ['disputed', 'settled', true],
    // A refund request leads to the same state, so the arrow is not dashed.
    ['captured', 'refunded', false],
    ['captured', 'settled', false],
  ])('%s to %s is triggered by another record only: %s', (from, to, isTriggered) => {
    const edge = edgesOf(machineOf('payment')).find((one) => one.from === from && one.to === to);
    expect(edge?.isTriggered).toBe(isTriggered);
  });

  test.each([
    ['pending', ['fail'], true],
    ['pending', ['cancel'], false],
    ['pending', [], false],
    ['processing', ['fail'], false],
  ] as const)(
    'with status %s and %j allowed, the arrow pending to failed is lit: %s',
    (status, allowed, isLit) => {
      const edge = { from: 'pending', to: 'failed', actions: ['fail'], isTriggered: false };
      expect(isAllowedEdge(edge, status, allowed)).toBe(isLit);
    },
  );
});

describe('allowedActions', () => {
  test.each([
    ['authorized', ['capture'], [['capture', ['captured', 'partially_captured'], null]]],
    [
      'pending',
      ['capture'],
      [['capture', ['captured', 'partially_captured'], 'it is captured automatically']],
    ],
    ['partially_refunded', ['settle'], [['settle', ['partially_refunded'], 'it is not settled yet']]],
    [
      'failed',
      ['retry'],
      [['retry', ['pending'], 'the decline was soft and the payment has had fewer than 3 attempts']],
    ],
    // Only the dispute triggers this transition of the payment.
    ['disputed', ['dispute_lost'], [['dispute_lost', [], null]]],
    ['refunded', [], []],
  ] as const)('a %s payment with %j allowed', (status, allowed, expected) => {
    const reach = allowedActions(machineOf('payment'), status, allowed);
    expect(reach.map(({ action, to, condition }) => [action, to, condition])).toEqual(expected);
  });
});

describe('labels', () => {
  const label = (x: number, y: number, text: string): Label & { text: string } => ({
    x,
    y,
    text,
  });

  test('that do not cover each other stay in place', () => {
    const labels = [label(0, 0, 'capture'), label(0, 14, 'cancel'), label(200, 0, 'fail')];
    expect(separateLabels(labels)).toEqual(labels);
  });

  test('that cover each other move down line by line, and the first stays', () => {
    const moved = separateLabels([label(0, 0, 'capture'), label(5, 3, 'cancel'), label(2, 1, 'expire')]);
    expect(moved.map(({ y }) => y)).toEqual([0, 17, 43]);
  });

  test.each(machines.map((machine) => [machine.resource, machine] as const))(
    'of the moves that leave one %s state never cover each other',
    (_, machine) => {
      for (const status of machine.states) {
        const edges = layOut(machine).edges.filter(({ from }) => from === status);
        const labels = separateLabels(
          edges.map((edge) => ({ ...edge.label, text: edge.actions.join(', ') })),
        );
        for (const [index, a] of labels.entries()) {
          for (const b of labels.slice(index + 1)) {
            const room = ((a.text.length + b.text.length) / 2) * 6.7;
            const isApart = Math.abs(a.y - b.y) >= 14 || Math.abs(a.x - b.x) >= room;
            expect(isApart, `${status}: ${a.text} and ${b.text}`).toBe(true);
          }
        }
      }
    },
  );
});

describe('the stepper', () => {
  const itemOf = (from: string | null, to: string, index: number) =>
    ({
      ...{ object: 'timeline_item', kind: 'move', id: String(index), at: '2026-11-15T08:00:00.000Z' },
      ...{ requestId: 'req', version: index + 1, data: { from, to } },
    }) as unknown as TimelineItem;
  /** In parentheses: exits; with a question mark: ahead; with a minus: missed. */
  const shown = (resource: string, states: readonly string[]) => {
    const items = states.map((to, index) => itemOf(states[index - 1] ?? null, to, index));
    return stepsOf(machineOf(resource), states.at(-1) ?? '', items).map(({ state, place, isExit }) => {
      const sign = place === 'ahead' ? '?' : place === 'missed' ? '-' : place === 'now' ? '!' : '';
      return isExit ? `(${state}${sign})` : `${state}${sign}`;
    });
  };

  test.each([
    [['pending', 'authorized'], 'captured', ['pending', 'authorized', 'captured', 'settled']],
    [['pending', 'authorized', 'captured'], 'authorized', ['pending', 'authorized', 'captured', 'settled']],
    [[], 'authorized', ['authorized', 'captured', 'settled']],
  ])('with the history %j of a payment that is %s shows %j', (states, status, steps) => {
    const items = states.map((to, index) => itemOf(states[index - 1] ?? null, to, index));
    expect(stepsOf(machineOf('payment'), status, items).map(({ state }) => state)).toEqual(steps);
  });

  test.each<[string, string[], string[]]>([
    ['payment', ['pending', 'authorized'], ['pending', 'authorized!', 'captured?', 'settled?']],
    ['payment', ['pending', 'failed'], ['pending', '(failed!)', 'captured-', 'settled-']],
    [
      'payment',
      ['pending', 'failed', 'pending'],
      ['pending', '(failed)', 'pending!', 'captured?', 'settled?'],
    ],
    ['payment', ['pending', 'captured', 'refunded'], ['pending', 'captured', '(refunded!)', 'settled-']],
    // It may be settled already, or still settles, and remains partially refunded.
    [
      'payment',
      ['pending', 'captured', 'partially_refunded'],
      ['pending', 'captured', '(partially_refunded!)'],
    ],
    ['payment', ['captured', 'settled', 'disputed'], ['captured', 'settled', '(disputed!)']],
    [
      'payment',
      ['captured', 'settled', 'disputed', 'settled'],
      ['captured', 'settled', '(disputed)', 'settled!'],
    ],
    [
      'payment',
      ['captured', 'disputed', 'charged_back'],
      ['captured', '(disputed)', '(charged_back!)', 'settled-'],
    ],
    ['transfer', ['sent', 'returned', 'refunded'], ['sent', '(returned)', '(refunded!)', 'completed-']],
    ['refund', ['pending', 'failed'], ['pending', '(failed!)', 'succeeded-']],
    ['dispute', ['needs_response', 'lost'], ['needs_response', '(lost!)', 'under_review-', 'won-']],
  ])('of a %s that was %j is %j', (resource, states, steps) => {
    expect(shown(resource, states)).toEqual(steps);
  });
});
