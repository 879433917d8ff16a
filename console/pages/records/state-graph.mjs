import { Graph, layout } from '@dagrejs/dagre';

/** The layout of state diagrams, for the console and for the documentation, whose build runs without a compiler. */

/**
 * @typedef {{ x: number, y: number }} Point
 * @typedef {{ width: number, height: number }} Size
 * @typedef {{ from: string, to: string, label: Size | null, isMinor: boolean }} Arrow the layout reserves room for a label with a size; a
 *   minor arrow may bend
 */

const margin = 14;

/**
 * `heightOfLine` is the height of one line of a label. A label without reserved room is placed on a long line, or beside a short one, where
 * it would cover the arrow.
 * @template {Arrow} A
 * @param {readonly ({ name: string } & Size)[]} states
 * @param {readonly A[]} arrows
 * @param {{ direction: 'LR' | 'TB', stateGap: number, rankGap: number, heightOfLine: number }} options
 */
export function layOutStates(states, arrows, { direction, stateGap, rankGap, heightOfLine }) {
  const graph = new Graph({ multigraph: false });
  // 'longest-path' aligns the final states at the end; the other rankers place 'failed' beside 'authorized'.
  graph.setGraph({
    ...{
      rankdir: direction,
      ranker: 'longest-path',
      nodesep: stateGap,
      ranksep: rankGap,
      edgesep: stateGap / 2,
    },
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { name, width, height } of states) graph.setNode(name, { width, height });
  // A high weight makes the main path straight and short.
  for (const { from, to, label, isMinor } of arrows)
    graph.setEdge(from, to, { weight: isMinor ? 1 : 4, ...label, labelpos: 'c' });
  layout(graph);
  const nodes = states.map((state) => {
    const { x, y } = graph.node(state.name);
    return { ...state, x, y };
  });
  const besideLine = Math.max(...states.map(({ height }) => height)) / 2 + 8;
  const lines = arrows.map((arrow) => {
    const {
      points = [],
      x = 0,
      y = 0,
    } = /** @type {Partial<Point> & { points?: Point[] }} */ (graph.edge(arrow.from, arrow.to));
    return { arrow, points, label: arrow.label ? { x, y } : labelOn(points, besideLine) };
  });
  // The library's graph size excludes lines that run outside the outermost state.
  const corners = [
    ...nodes.flatMap((node) => cornersOf(node, node)),
    ...lines.flatMap(({ points, label, arrow }) => [
      ...points,
      ...cornersOf(label, arrow.label ?? { width: 0, height: heightOfLine }),
    ]),
  ];
  const [xs, ys] = [corners.map(({ x }) => x), corners.map(({ y }) => y)];
  const [left, top] = [Math.min(...xs) - margin, Math.min(...ys) - margin];
  /** @param {Point} point */
  const moved = ({ x, y }) => ({ x: x - left, y: y - top });
  return {
    width: Math.ceil(Math.max(...xs) + margin - left),
    height: Math.ceil(Math.max(...ys) + margin - top),
    nodes: nodes.map((node) => ({ ...node, ...moved(node) })),
    arrows: lines.map(({ arrow, points, label }) => ({
      ...{ arrow, path: curve(points.map(moved)), label: moved(label) },
    })),
  };
}

/** @param {Point} middle @param {Size} size */
function cornersOf({ x, y }, { width, height }) {
  return [
    { x: x - width / 2, y: y - height / 2 },
    { x: x + width / 2, y: y + height / 2 },
  ];
}

/** @param {readonly Point[]} points @param {number} besideLine clear of the states at both ends of the line @returns {Point} */
function labelOn(points, besideLine) {
  const middle = Math.floor(points.length / 2);
  const [first, last] = [points[0], points.at(-1)];
  // Odd points are between two ranks, where no state is in the way.
  const { x, y } = points[middle % 2 === 1 ? middle : middle - 1] ?? first ?? { x: 0, y: 0 };
  if (points.length > 3 || first === undefined || last === undefined) return { x, y };
  return { x, y: y + (last.y <= first.y ? -besideLine : besideLine) };
}

/** A smooth line through the points: quadratic segments that meet at the midpoints. @param {readonly Point[]} points */
function curve([first, ...rest]) {
  if (first === undefined) return '';
  const parts = [`M${at(first)}`];
  rest.forEach((point, index) => {
    const next = rest[index + 1];
    if (next === undefined) parts.push(`L${at(point)}`);
    else parts.push(`Q${at(point)} ${at({ x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 })}`);
  });
  return parts.join(' ');
}

/** @param {Point} point */
function at({ x, y }) {
  return `${x.toFixed(1)},${y.toFixed(1)}`;
}
