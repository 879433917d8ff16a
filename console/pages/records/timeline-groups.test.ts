import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TimelineItem } from '../../generated/shapes.ts';
import { groupsOf, kinds, pathOf } from './timeline-groups.ts';

function item(
  kind: TimelineItem['kind'],
  id: string,
  requestId: string,
  version: number | null,
  minute: number,
  data = {},
): TimelineItem {
  const at = `2026-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`;
  return { kind, id, requestId, version, at, title: id, data };
}

const created = item('move', 'create', 'req_1', 1, 1, { from: null, to: 'pending' });
const captured = item('move', 'capture', 'req_2', 2, 2, { from: 'pending', to: 'captured' });
const settled = item('move', 'settle', 'req_2', 3, 2, { from: 'captured', to: 'settled' });

test('an item belongs to the transition of its request and version', () => {
  const event = item('event', 'evt_3', 'req_2', 3, 2);
  const groups = groupsOf([event, settled, captured, created]);
  expect(groups.map(({ move, items }) => [move?.id, items.map(({ id }) => id)])).toEqual([
    ['settle', ['evt_3']],
    ['capture', []],
    ['create', []],
  ]);
});

test('an item without a matching version belongs to the first transition of its request', () => {
  const request = item('request', 'req_2', 'req_2', null, 2);
  const groups = groupsOf([settled, captured, request]);
  expect(groups.map(({ move, items }) => [move?.id, items.length])).toEqual([
    ['settle', 0],
    ['capture', 1],
  ]);
});

test('items of a request without a transition form their own group', () => {
  const rejected = item('request', 'req_9', 'req_9', null, 9);
  const event = item('event', 'evt_9', 'req_9', 5, 9);
  const groups = groupsOf([rejected, event, created]);
  expect(groups.map(({ move, items }) => [move?.id, items.map(({ id }) => id)])).toEqual([
    [undefined, ['req_9', 'evt_9']],
    ['create', []],
  ]);
});

test('the items of a group follow from each other: request, provider event, ledger entry, event, delivery', () => {
  const mixed = [...kinds].reverse().map((kind) => item(kind, kind, 'req_1', 1, 1));
  expect(groupsOf(mixed)[0]?.items.map(({ kind }) => kind)).toEqual(kinds.filter((kind) => kind !== 'move'));
});

test('groups are newest first, contain every item once, and have unique keys', () => {
  const requests = fc.constantFrom('req_1', 'req_2', 'req_3');
  const versions = fc.option(fc.integer({ min: 1, max: 4 }), { nil: null });
  const others = fc.tuple(
    fc.constantFrom(...kinds.filter((kind) => kind !== 'move')),
    requests,
    versions,
    fc.nat(59),
  );
  fc.assert(
    fc.property(fc.array(others), (list) => {
      const items = list.map(([kind, requestId, version, minute], index) =>
        item(kind, `i${index}`, requestId, version, minute),
      );
      const groups = groupsOf([...items, settled, captured, created]);
      const ids = groups.flatMap((group) =>
        [...(group.move ? [group.move] : []), ...group.items].map(({ id }) => id),
      );
      expect(ids.toSorted()).toEqual([...items.map(({ id }) => id), 'capture', 'create', 'settle'].sort());
      expect(new Set(groups.map(({ key }) => key)).size).toBe(groups.length);
      const times = groups.map(({ at }) => at);
      expect(times).toEqual(times.toSorted().reverse());
    }),
  );
});

test('the path has the states in the order in which the record entered them', () => {
  const { states, taken } = pathOf([settled, item('event', 'evt', 'req_2', 3, 2), captured, created]);
  expect(states).toEqual(['pending', 'captured', 'settled']);
  expect(taken.has('pending captured')).toBe(true);
  expect(taken.has('captured settled')).toBe(true);
  expect(taken.has('pending settled')).toBe(false);
});
