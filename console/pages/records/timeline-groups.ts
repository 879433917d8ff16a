import type { TimelineItem } from '../../generated/shapes.ts';

export type Kind = TimelineItem['kind'];

/** In causal order. */
export const kinds: readonly Kind[] = [
  'request',
  'move',
  'provider_event',
  'ledger_entry',
  'event',
  'delivery',
];

/** A transition with everything that it caused, or the items of one request without a transition of this record. */
export interface Group {
  readonly key: string;
  readonly move: TimelineItem | null;
  readonly items: readonly TimelineItem[];
  readonly at: string;
}

interface Draft {
  key: string;
  move: TimelineItem | null;
  items: TimelineItem[];
}

/** Groups, newest first. An item belongs to the transition with its request and version, else to its request's first one. */
export function groupsOf(items: readonly TimelineItem[]): readonly Group[] {
  const exact = new Map<string, Draft>();
  const ofRequest = new Map<string, Draft>();
  const keyOf = (item: TimelineItem) => `${item.requestId} ${item.version}`;
  const moves = items
    .filter(({ kind }) => kind === 'move')
    .toSorted((a, b) => (a.version ?? 0) - (b.version ?? 0));
  for (const move of moves) {
    const draft: Draft = { key: keyOf(move), move, items: [] };
    exact.set(draft.key, draft);
    if (!ofRequest.has(move.requestId)) ofRequest.set(move.requestId, draft);
  }
  for (const item of items) {
    if (item.kind === 'move') continue;
    const key = keyOf(item);
    const found = exact.get(key) ?? ofRequest.get(item.requestId);
    if (found) found.items.push(item);
    else {
      const draft: Draft = { key, move: null, items: [item] };
      exact.set(key, draft);
      ofRequest.set(item.requestId, draft);
    }
  }
  return [...exact.values()]
    .map((draft) => ({
      ...draft,
      items: draft.items.toSorted(
        (a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || compare(a.at, b.at) || compare(a.id, b.id),
      ),
      at: draft.move?.at ?? draft.items[0]?.at ?? '',
    }))
    .toSorted((a, b) => compare(b.at, a.at) || (b.move?.version ?? 0) - (a.move?.version ?? 0));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The states that a record has been in, oldest first, and the transitions between them as 'from to'. */
export interface Path {
  readonly states: readonly string[];
  readonly taken: ReadonlySet<string>;
}

export function pathOf(items: readonly TimelineItem[]): Path {
  const states = new Set<string>();
  const taken = new Set<string>();
  for (const { kind, data } of [...items].reverse()) {
    if (kind !== 'move') continue;
    if (typeof data.from === 'string') states.add(data.from);
    if (typeof data.to === 'string') states.add(data.to);
    taken.add(`${data.from} ${data.to}`);
  }
  return { states: [...states], taken };
}
