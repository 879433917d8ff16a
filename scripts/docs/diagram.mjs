import { Graph, layout } from '@dagrejs/dagre';
import { escapeHtml, slugOf } from './html.mjs';

const nodeHeight = 32;
const letterWidth = 7.2;
const labelLetterWidth = 6.1;
const lineHeight = 14;
const nodePadding = 24;
const margin = 12;
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
 * A state diagram as a picture in the page itself. The text is Mermaid's, because that is what the repository shows of
 * the same machines; only arrows with a label are known.
 * @param {string} name what has these states
 * @param {string} text
 * @param {{ inWords: boolean }} options whether the moves follow as a list, where no table has them
 */
export function diagramFigure(name, text, { inWords }) {
  const arrows = [...text.matchAll(/^\s+(\S+) --> (\S+): (.+)$/gm)].map(
    ([, from = '', to = '', label = '']) => ({ from, to, label }),
  );
  if (arrows.length === 0) throw new Error(`The diagram of "${name}" has no arrows.`);
  const sentences = arrows.map(({ from, to, label }) =>
    from === start ? `${label} makes it ${to}` : `${from} becomes ${to} by ${label}`,
  );
  const hasStar = arrows.some(({ label }) => label.includes('*'));
  const caption = `${sentenceOf(name)}${hasStar ? ' A star marks what another record brings along.' : ''}`;
  const words = inWords
    ? `<details><summary>The same in words</summary><ul>${sentences.map((sentence) => `<li>${escapeHtml(sentence)}</li>`).join('')}</ul></details>`
    : '';
  return `<figure class="diagram"><div class="wide" tabindex="0">${drawing(name, arrows, sentences)}</div><figcaption>${escapeHtml(caption)}</figcaption>${words}</figure>\n`;
}

/** @param {string} name */
function sentenceOf(name) {
  const noun = name.replace(/^A /, '');
  return `The states of a ${noun} and what leads from one to the other.`;
}

/** @param {string} name @param {{ from: string, to: string, label: string }[]} arrows @param {string[]} sentences */
function drawing(name, arrows, sentences) {
  const graph = new Graph();
  // Ranked by the longest path, the ends line up at the bottom.
  graph.setGraph({ rankdir: 'TB', ranker: 'longest-path', nodesep: 22, ranksep: 26, edgesep: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const state of new Set(arrows.flatMap(({ from, to }) => [from, to]))) {
    const size =
      state === start
        ? { width: 14, height: 14 }
        : { width: Math.round(state.length * letterWidth + nodePadding), height: nodeHeight };
    graph.setNode(state, size);
  }
  for (const { from, to, label } of arrows) {
    const lines = linesOf(label);
    graph.setEdge(from, to, {
      width: Math.max(...lines.map((line) => line.length)) * labelLetterWidth + 8,
      height: lines.length * lineHeight + 4,
      labelpos: 'c',
      weight: awayFromTheGoal.has(to) ? 1 : 5,
    });
  }
  layout(graph);
  const nodes = graph.nodes().map((state) => ({ state, ...graph.node(state) }));
  const edges = arrows.map((arrow) => ({ ...arrow, ...graph.edge(arrow.from, arrow.to) }));
  const xs = [
    ...nodes.flatMap(({ x, width }) => [x - width / 2, x + width / 2]),
    ...edges.flatMap(({ points, x, width }) => [
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
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="${id}-title ${id}-words" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<title id="${id}-title">${escapeHtml(sentenceOf(name))}</title><desc id="${id}-words">${escapeHtml(sentences.join('; '))}.</desc>`,
    `<defs><marker id="${id}-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="head" d="M0,0.5 L8,4 L0,7.5 z"/></marker></defs>`,
    ...edges.map(
      ({ points }) => `<path class="line" d="${curve(points, at)}" marker-end="url(#${id}-head)"/>`,
    ),
    ...nodes.map(({ state, x, y, width: w, height: h }) =>
      state === start
        ? `<circle class="start" cx="${(x - left).toFixed(1)}" cy="${(y - top).toFixed(1)}" r="6"/>`
        : `<g class="${finals.has(state) ? 'state final' : 'state'}"><rect x="${(x - w / 2 - left).toFixed(1)}" y="${(y - h / 2 - top).toFixed(1)}" width="${w}" height="${h}" rx="7"/><text x="${(x - left).toFixed(1)}" y="${(y - top + 4.5).toFixed(1)}" text-anchor="middle">${escapeHtml(state)}</text></g>`,
    ),
    ...edges.map(({ label, x, y }) => {
      const lines = linesOf(label);
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

/** A long list of actions stands in lines of two. @param {string} label */
function linesOf(label) {
  const actions = label.split(', ');
  return actions.flatMap((_action, at) => (at % 2 === 0 ? [actions.slice(at, at + 2).join(', ')] : []));
}

/** A smooth line through the points: quadratic pieces that meet at the middles. */
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
