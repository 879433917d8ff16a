import { layOutStates } from '../../console/pages/records/state-graph.mjs';
import { escapeHtml, slugOf } from './html.mjs';

const nodeHeight = 32;
const letterWidth = 7.2;
const labelLetterWidth = 6.1;
const lineHeight = 14;
const nodePadding = 24;
const arrowsWithNamesMax = 10;
const start = '[*]';

/**
 * A state diagram as inline SVG. The input is Mermaid, because code hosts draw the same text in the repository; only arrows with a
 * label are supported.
 * @param {string} name the resource, or the heading `Resource states`
 * @param {string} text
 * @param {{ hasTextList: boolean, setbacks: readonly string[] }} options whether the transitions follow as a list, on pages without a table
 */
export function diagramFigure(name, text, { hasTextList, setbacks }) {
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
  return `<figure class="diagram"><div class="wide" tabindex="0">${drawing(name, drawn, sentences, setbacks)}</div><figcaption>${escapeHtml(caption)}</figcaption>${textList}</figure>\n`;
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

/** @param {string} name @param {{ from: string, to: string, lines: string[], isTriggered: boolean }[]} arrows @param {string[]} sentences @param {readonly string[]} setbacks */
function drawing(name, arrows, sentences, setbacks) {
  const names = [...new Set(arrows.flatMap(({ from, to }) => [from, to]))];
  const states = names.map((state) =>
    state === start
      ? { name: state, width: 14, height: 14 }
      : { name: state, width: Math.round(state.length * letterWidth + nodePadding), height: nodeHeight },
  );
  const sized = arrows.map((arrow) => ({
    ...arrow,
    isMinor: setbacks.includes(arrow.to),
    label: sizeOf(arrow.lines),
  }));
  const drawn = layOutStates(states, sized, {
    ...{ direction: 'TB', stateGap: 18, rankGap: 24, heightOfLine: lineHeight },
  });
  const { width, height, nodes } = drawn;
  const id = slugOf(`diagram ${name}`);
  const finals = new Set(names.filter((state) => !arrows.some(({ from }) => from === state)));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="${id}-title ${id}-description" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<title id="${id}-title">${escapeHtml(sentenceOf(name))}</title><desc id="${id}-description">${escapeHtml(sentences.join('; '))}.</desc>`,
    `<defs><marker id="${id}-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="head" d="M0,0.5 L8,4 L0,7.5 z"/></marker></defs>`,
    ...drawn.arrows.map(
      ({ path, arrow }) =>
        `<path class="line${arrow.isTriggered ? ' triggered' : ''}" d="${path}" marker-end="url(#${id}-head)"/>`,
    ),
    ...nodes.map(({ name: state, x, y, width: w, height: h }) =>
      state === start
        ? `<circle class="start" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="6"/>`
        : `<g class="${finals.has(state) ? 'state final' : 'state'}"><rect x="${(x - w / 2).toFixed(1)}" y="${(y - h / 2).toFixed(1)}" width="${w}" height="${h}" rx="7"/><text x="${x.toFixed(1)}" y="${(y + 4.5).toFixed(1)}" text-anchor="middle">${escapeHtml(state)}</text></g>`,
    ),
    ...drawn.arrows
      .filter(({ arrow }) => arrow.lines.length > 0)
      .map(({ arrow: { lines }, label: { x, y } }) => {
        const first = y - ((lines.length - 1) * lineHeight) / 2 + 4;
        const spans = lines.map(
          (line, row) =>
            `<tspan x="${x.toFixed(1)}" y="${(first + row * lineHeight).toFixed(1)}">${escapeHtml(line)}</tspan>`,
        );
        return `<text class="label" text-anchor="middle">${spans.join('')}</text>`;
      }),
    '</svg>',
  ].join('');
}

/** The size of a label; null without one. @param {readonly string[]} lines */
function sizeOf(lines) {
  if (lines.length === 0) return null;
  const width = Math.max(...lines.map((line) => line.length)) * labelLetterWidth + 8;
  return { width, height: lines.length * lineHeight };
}
