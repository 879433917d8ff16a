import { Graph, layout } from '@dagrejs/dagre';
import type { StateMachine } from '../../generated/shapes.ts';
import { type Edge, edgesOf } from './machine.ts';

interface Point {
  readonly x: number;
  readonly y: number;
}

/** The middle of a transition's label: on a long line, or beside a short one, where it would cover the arrow. */
export type Label = Point;

export interface DiagramLayout {
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
// Clear of the states at both ends of the line.
const besideLine = nodeHeight / 2 + 8;
const shiftsMax = 8;
const edgesWithNamesMax = 8;
const offPathStates = new Set(['failed', 'canceled', 'expired', 'returned', 'refunded', 'charged_back']);

/** Lays out the states from left to right. It depends on the machine only, so the picture is stable when a record changes. */
export function layOut(machine: StateMachine): DiagramLayout {
  const graph = new Graph({ multigraph: false });
  // 'longest-path' aligns the final states at the right; the other rankers place 'failed' beside 'authorized'.
  graph.setGraph({ rankdir: 'LR', ranker: 'longest-path', nodesep: 16, ranksep: 52, edgesep: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const state of machine.states) {
    const width = Math.round(state.length * letterWidth + nodePadding);
    graph.setNode(state, { width, height: nodeHeight });
  }
  const edges = edgesOf(machine).filter(({ from, to }) => from !== to);
  // In a small machine the layout reserves room for labels; in a large one they are placed on the lines.
  const isSmall = edges.length <= edgesWithNamesMax;
  for (const edge of edges) {
    const name = isSmall ? { width: nameWidth(edge), height: lineHeight, labelpos: 'c' as const } : {};
    // A high weight makes the main path straight and short; edges to other outcomes may bend.
    const weight = offPathStates.has(edge.to) || edge.isTriggered ? 1 : 4;
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
    const label = isSmall ? { x: x ?? 0, y: y ?? 0 } : labelOf(points);
    return { edge, points, label, half: isSmall ? nameWidth(edge) / 2 : 0 };
  });
  // The library's graph size excludes lines that run outside the outermost state.
  const xs = [
    ...lines.flatMap(({ points, label, half }) => [
      label.x - half,
      label.x + half,
      ...points.map(({ x }) => x),
    ]),
    ...nodes.flatMap(({ x, width }) => [x - width / 2, x + width / 2]),
  ];
  const ys = [
    ...lines.flatMap(({ points, label }) => [label.y - lineHeight, label.y, ...points.map(({ y }) => y)]),
    ...nodes.flatMap(({ y }) => [y - nodeHeight / 2, y + nodeHeight / 2]),
  ];
  const [left, top] = [Math.min(...xs) - margin, Math.min(...ys) - margin];
  const moved = ({ x, y }: Point): Point => ({ x: x - left, y: y - top });
  return {
    width: Math.ceil(Math.max(...xs) + margin - left),
    height: Math.ceil(Math.max(...ys) + margin - top),
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

function labelOf(points: readonly Point[]): Label {
  const middle = Math.floor(points.length / 2);
  const [first, last] = [points[0], points.at(-1)];
  // Odd points are between two ranks, where no state is in the way.
  const { x, y } = points[middle % 2 === 1 ? middle : middle - 1] ?? first ?? { x: 0, y: 0 };
  if (points.length > 3 || first === undefined || last === undefined) return { x, y };
  return { x, y: y + (last.y <= first.y ? -besideLine : besideLine) };
}

/** Moves overlapping labels down, one line at a time. */
export function separateLabels<L extends Label & { readonly text: string }>(
  labels: readonly L[],
): readonly L[] {
  const done: L[] = [];
  for (const label of labels) {
    let moved = label;
    for (let step = 0; step < shiftsMax && done.some((other) => isCovering(other, moved)); step += 1) {
      moved = { ...moved, y: moved.y + lineHeight };
    }
    done.push(moved);
  }
  return done;
}

function isCovering(a: Label & { readonly text: string }, b: Label & { readonly text: string }): boolean {
  const room = ((a.text.length + b.text.length) / 2) * letterWidth;
  return Math.abs(a.y - b.y) < lineHeight && Math.abs(a.x - b.x) < room;
}

/** A smooth line through the points: quadratic segments that meet at the midpoints. */
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
