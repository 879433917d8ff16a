import { Graph, layout } from '@dagrejs/dagre';
import type { StateMachine } from '../../client/shapes.ts';
import { type Edge, edgesOf } from './machine.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Where the name of a move stands: on a long line, beside a short one, whose arrow it would cover. */
export interface Label extends Point {
  readonly anchor: 'start' | 'middle' | 'end';
}

export interface Placed {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly (Point & { readonly state: string; readonly width: number })[];
  readonly edges: readonly (Edge & { readonly path: string; readonly label: Label })[];
}

export const nodeHeight = 30;
const margin = 14;
const letterWidth = 6.7;
const nodePadding = 20;
const lineHeight = 14;
const stepsMax = 8;
const edgesWithNamesMax = 8;
const awayFromTheGoal = new Set(['failed', 'canceled', 'expired', 'returned', 'refunded', 'charged_back']);

/** Places the states from top to bottom. It depends on the machine alone, so the picture stands still when a record moves. */
export function place(machine: StateMachine): Placed {
  const graph = new Graph({ multigraph: false });
  // Ranked by the longest path, the ends line up at the bottom; the other rankers put 'failed' beside 'authorized'.
  graph.setGraph({ rankdir: 'TB', ranker: 'longest-path', nodesep: 14, ranksep: 32, edgesep: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const state of machine.states) {
    const width = Math.round(state.length * letterWidth + nodePadding);
    graph.setNode(state, { width, height: nodeHeight });
  }
  const edges = edgesOf(machine).filter(({ from, to }) => from !== to);
  // A small machine has room for the names of its moves; in a large one they stand on the lines.
  const isSmall = edges.length <= edgesWithNamesMax;
  for (const edge of edges) {
    const name = isSmall ? { width: nameWidth(edge), height: lineHeight, labelpos: 'c' as const } : {};
    // The way to the goal is kept straight and short; the ways out may bend.
    const weight = awayFromTheGoal.has(edge.to) || edge.isBrought ? 1 : 4;
    graph.setEdge(edge.from, edge.to, { weight, ...name });
  }
  layout(graph);
  const nodes = machine.states.map((state) => {
    const { x, y, width } = graph.node(state);
    return { state, x, y, width };
  });
  const lines = edges.map((edge) => {
    const {
      points = [],
      x,
      y,
    } = graph.edge(edge.from, edge.to) as Partial<Point> & { points?: readonly Point[] };
    const label = isSmall ? labelAt(x, y) : labelOf(points);
    return { edge, points, label, half: isSmall ? nameWidth(edge) / 2 : 0 };
  });
  // The library's own size leaves out lines that run outside of the outermost state.
  const xs = [
    ...lines.flatMap(({ points, label, half }) => [
      label.x - half,
      label.x + half,
      ...points.map(({ x }) => x),
    ]),
    ...nodes.flatMap(({ x, width }) => [x - width / 2, x + width / 2]),
  ];
  const left = Math.min(...xs) - margin;
  const bottom = Math.max(...nodes.map(({ y }) => y)) + nodeHeight / 2 + margin;
  const moved = ({ x, y }: Point): Point => ({ x: x - left, y: y + margin });
  return {
    width: Math.ceil(Math.max(...xs) + margin - left),
    height: Math.ceil(bottom + margin),
    nodes: nodes.map((node) => ({ ...node, ...moved(node) })),
    edges: lines.map(({ edge, points, label }) => ({
      ...edge,
      path: curve(points.map(moved)),
      label: { ...label, ...moved(label) },
    })),
  };
}

function nameWidth({ actions }: Edge): number {
  return actions.join(', ').length * letterWidth;
}

function labelAt(x = 0, y = 0): Label {
  return { x, y, anchor: 'middle' };
}

function labelOf(points: readonly Point[]): Label {
  const middle = Math.floor(points.length / 2);
  const [first, last] = [points[0], points.at(-1)];
  // Every other point lies between two ranks, where no state can be in the way.
  const { x, y } = points[middle % 2 === 1 ? middle : middle - 1] ?? first ?? { x: 0, y: 0 };
  if (points.length > 3 || first === undefined || last === undefined) return labelAt(x, y);
  const isRight = last.x >= first.x;
  return { x: x + (isRight ? 7 : -7), y: y - 2, anchor: isRight ? 'start' : 'end' };
}

/** Moves names that would cover each other down, a line at a time. */
export function apart<L extends Label & { readonly words: string }>(labels: readonly L[]): readonly L[] {
  const done: L[] = [];
  for (const label of labels) {
    let moved = label;
    for (let step = 0; step < stepsMax && done.some((other) => isCovering(other, moved)); step += 1) {
      moved = { ...moved, y: moved.y + lineHeight };
    }
    done.push(moved);
  }
  return done;
}

function isCovering(a: Label & { readonly words: string }, b: Label & { readonly words: string }): boolean {
  const room = ((a.words.length + b.words.length) / 2) * letterWidth;
  return Math.abs(a.y - b.y) < lineHeight && Math.abs(a.x - b.x) < room;
}

/** A smooth line through the points: quadratic pieces that meet at the middles. */
function curve(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  const parts = [`M${at(first)}`];
  rest.forEach((point, index) => {
    const next = rest[index + 1];
    if (next === undefined) parts.push(`L${at(point)}`);
    else parts.push(`Q${at(point)} ${at({ x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 })}`);
  });
  return parts.join(' ');
}

function at({ x, y }: Point): string {
  return `${x.toFixed(1)},${y.toFixed(1)}`;
}
