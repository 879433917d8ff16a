import { Graph, layout } from '@dagrejs/dagre';
import { escapeHtml, slugOf } from './html.mjs';

const nodeHeight = 32;
const letterWidth = 7.2;
const labelLetterWidth = 6.1;
const lineHeight = 14;
const nodePadding = 24;
const margin = 12;
const arrowsWithNamesMax = 10;
const start = '[*]';
const awayFromTheGoal = new Set([
  'failed',
  'canceled',
  'expired',
  'returned',
  'refunded',
  'charged_back',
  'archived',
]);

/**
 * A state diagram as inline SVG. The input is Mermaid, because code hosts draw the same text in the repository; only arrows with a
 * label are supported.
 * @param {string} name the resource, or the heading `Resource states`
 * @param {string} text
 * @param {{ hasTextList: boolean }} options whether the transitions follow as a list, on pages without a table
 */
export function diagramFigure(name, text, { hasTextList }) {
  const arrows = [...text.matchAll(/^\s+(\S+) --> (\S+): (.+)$/gm)].map(
    ([, from = '', to = '', label = '']) => ({
      ...{ from, to },
      actions: label.split(', '),
    }),
  );
  if (arrows.length === 0) throw new Error(`The diagram of "${name}" has no arrows.`);
  const sentences = arrows.map(({ from, to, actions }) => {
    const by = actions.join(', ');
    if (from === start) return `${by} creates it as ${to}`;
    return from === to ? `${by} leaves ${from} unchanged` : `${by} changes ${from} to ${to}`;
  });
  const drawn = drawnArrows(arrows);
  const notes = [
    sentenceOf(name),
    drawn.some(({ lines }) => lines.length === 0)
      ? 'An arrow without a label is the action that the state is named after: cancel leads to canceled.'
      : '',
    hasTextList && text.includes('*') ? 'A star marks an action that another record triggers.' : '',
  ];
  const caption = notes.filter((note) => note !== '').join(' ');
  const textList = hasTextList
    ? `<details><summary>Transitions as text</summary><ul>${sentences.map((sentence) => `<li>${escapeHtml(sentence)}</li>`).join('')}</ul></details>`
    : '';
  return `<figure class="diagram"><div class="wide" tabindex="0">${drawing(name, drawn, sentences)}</div><figcaption>${escapeHtml(caption)}</figcaption>${textList}</figure>\n`;
}

/**
 * The labels of the arrows. In a large machine they would fill the diagram. So labels that the target state implies are omitted, and
 * so are actions of other records where an action of the record itself has the same transition.
 */
function drawnArrows(arrows) {
  const between = arrows.filter(({ from, to }) => from !== to);
  const isLarge = between.length > arrowsWithNamesMax;
  return between.map(({ from, to, actions }) => {
    const own = actions.filter((action) => !action.endsWith('*'));
    const shown = isLarge && own.length > 0 ? own : actions;
    const lines =
      isLarge && from !== start ? shown.filter((action) => !to.startsWith(action.replace(/e$/, ''))) : shown;
    return { from, to, lines, isTriggered: own.length === 0 };
  });
}

/** @param {string} name */
function sentenceOf(name) {
  const resource = name.replace(/ states$/, '').toLowerCase();
  return `The states of a ${resource} and the transitions between them.`;
}

/** @param {string} name @param {{ from: string, to: string, lines: string[], isTriggered: boolean }[]} arrows @param {string[]} sentences */
function drawing(name, arrows, sentences) {
  const graph = new Graph();
  // Ranked by the longest path, the ends line up at the bottom.
  graph.setGraph({ rankdir: 'TB', ranker: 'longest-path', nodesep: 18, ranksep: 24, edgesep: 10 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const state of new Set(arrows.flatMap(({ from, to }) => [from, to]))) {
    const size =
      state === start
        ? { width: 14, height: 14 }
        : { width: Math.round(state.length * letterWidth + nodePadding), height: nodeHeight };
    graph.setNode(state, size);
  }
  for (const { from, to, lines } of arrows) {
    graph.setEdge(from, to, {
      width: lines.length === 0 ? 0 : Math.max(...lines.map((line) => line.length)) * labelLetterWidth + 8,
      height: lines.length * lineHeight,
      labelpos: 'c',
      weight: awayFromTheGoal.has(to) ? 1 : 5,
    });
  }
  layout(graph);
  const nodes = graph.nodes().map((state) => ({ state, ...graph.node(state) }));
  const edges = arrows.map((arrow) => ({ ...arrow, ...graph.edge(arrow.from, arrow.to) }));
  const xs = [
    ...nodes.flatMap(({ x, width }) => [x - width / 2, x + width / 2]),
    ...edges.flatMap(({ points, x = points[0].x, width }) => [
      x - width / 2,
      x + width / 2,
      ...points.map((point) => point.x),
    ]),
  ];
  const ys = [
    ...nodes.flatMap(({ y, height }) => [y - height / 2, y + height / 2]),
    ...edges.flatMap(({ points }) => points.map((point) => point.y)),
  ];
  const [left, top] = [Math.min(...xs) - margin, Math.min(...ys) - margin];
  const [width, height] = [
    Math.ceil(Math.max(...xs) + margin - left),
    Math.ceil(Math.max(...ys) + margin - top),
  ];
  const id = slugOf(`diagram ${name}`);
  const at = ({ x, y }) => `${(x - left).toFixed(1)},${(y - top).toFixed(1)}`;
  const finals = new Set(
    nodes.map(({ state }) => state).filter((state) => !arrows.some(({ from }) => from === state)),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="${id}-title ${id}-description" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<title id="${id}-title">${escapeHtml(sentenceOf(name))}</title><desc id="${id}-description">${escapeHtml(sentences.join('; '))}.</desc>`,
    `<defs><marker id="${id}-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="head" d="M0,0.5 L8,4 L0,7.5 z"/></marker></defs>`,
    ...edges.map(
      ({ points, isTriggered }) =>
        `<path class="line${isTriggered ? ' triggered' : ''}" d="${curve(points, at)}" marker-end="url(#${id}-head)"/>`,
    ),
    ...nodes.map(({ state, x, y, width: w, height: h }) =>
      state === start
        ? `<circle class="start" cx="${(x - left).toFixed(1)}" cy="${(y - top).toFixed(1)}" r="6"/>`
        : `<g class="${finals.has(state) ? 'state final' : 'state'}"><rect x="${(x - w / 2 - left).toFixed(1)}" y="${(y - h / 2 - top).toFixed(1)}" width="${w}" height="${h}" rx="7"/><text x="${(x - left).toFixed(1)}" y="${(y - top + 4.5).toFixed(1)}" text-anchor="middle">${escapeHtml(state)}</text></g>`,
    ),
    ...edges
      .filter(({ lines }) => lines.length > 0)
      .map(({ lines, x, y }) => {
        const first = y - top - ((lines.length - 1) * lineHeight) / 2 + 4;
        const spans = lines.map(
          (line, row) =>
            `<tspan x="${(x - left).toFixed(1)}" y="${(first + row * lineHeight).toFixed(1)}">${escapeHtml(line)}</tspan>`,
        );
        return `<text class="label" text-anchor="middle">${spans.join('')}</text>`;
      }),
    '</svg>',
  ].join('');
}

/** A smooth line through the points: quadratic segments that meet at the midpoints. */
function curve(points, at) {
  const [first, ...rest] = points;
  const parts = rest.map((point, index) => {
    const next = rest[index + 1];
    return next === undefined
      ? `L${at(point)}`
      : `Q${at(point)} ${at({ x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 })}`;
  });
  return `M${at(first)} ${parts.join(' ')}`;
}
