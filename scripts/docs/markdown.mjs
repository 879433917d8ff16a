import { Marked } from 'marked';
import { highlight } from './highlight.mjs';
import { anchorOf, escapeHtml, slugOf } from './html.mjs';

/**
 * @typedef {object} Places
 * @property {(link: string) => string} addressOf where a page of docs/ is served
 * @property {(link: string) => string} imageOf
 * @property {(resource: string) => string} diagramOf the lifecycle of a resource, drawn
 * @property {(text: string, heading: string) => string} drawn a Mermaid state diagram, drawn
 * @property {string | undefined} rowKind the kind of the table rows, on pages whose rows have anchors
 */

/** @typedef {{ id: string, depth: number, title: string, text: string, kind?: string }} Section */

/**
 * A Markdown page as HTML, with the title, summary and sections for the layout, the search and llms.txt.
 * @param {string} markdown
 * @param {Places} places
 */
export function render(markdown, places) {
  /** @type {Section[]} */
  const sections = [];
  /** @type {Section[]} */
  const rowSections = [];
  /** @type {Set<string>} */
  const ids = new Set();
  let heading = '';
  const uniqueId = (/** @type {string} */ wanted) => {
    let id = wanted;
    for (let count = 1; ids.has(id); count += 1) id = `${wanted}-${count}`;
    ids.add(id);
    return id;
  };

  const marked = new Marked({
    gfm: true,
    extensions: [{ name: 'tabs', renderer: (token) => tabsOf(token.tabs) }],
    renderer: {
      heading({ tokens, depth }) {
        const title = plainText(tokens);
        heading = title;
        const content = this.parser.parseInline(tokens);
        if (depth === 1) {
          sections.push({ id: '', depth, title, text: '' });
          return `<h1>${content}</h1>\n`;
        }
        const id = uniqueId(slugOf(title));
        sections.push({ id, depth, title, text: '' });
        return `<h${depth} id="${id}">${content} ${anchorOf(id, title)}</h${depth}>\n`;
      },
      code(token) {
        if (languageOf(token) === 'mermaid') return places.drawn(token.text, heading);
        return codeFigure(token);
      },
      table({ header, rows }) {
        const cells = (/** @type {any[]} */ row, /** @type {string} */ tag) =>
          row
            .map((cell) => {
              // An empty cell is not a heading.
              const name = cell.text === '' ? 'td' : tag;
              return `<${name}>${this.parser.parseInline(cell.tokens)}</${name}>`;
            })
            .join('');
        const isHeadless = header.every((cell) => cell.text === '');
        const head = isHeadless ? '' : `<thead><tr>${cells(header, 'th')}</tr></thead>`;
        const body = rows.map((row) => {
          const name = places.rowKind === undefined ? undefined : codeOf(row[0]);
          if (name === undefined) return `<tr>${cells(row, 'td')}</tr>`;
          const id = uniqueId(name);
          rowSections.push({
            id,
            depth: 4,
            title: name,
            text: textOfCells(row.slice(1)),
            kind: places.rowKind,
          });
          return `<tr id="${escapeHtml(id)}">${cells(row, 'td')}</tr>`;
        });
        return `<div class="wide" tabindex="0"><table>${head}<tbody>${body.join('')}</tbody></table></div>\n`;
      },
      link({ href, tokens }) {
        const address = addressOfLink(href, places);
        const label = this.parser.parseInline(tokens);
        if (address === undefined) return label;
        return `<a href="${escapeHtml(address)}"${/^https?:/.test(href) ? ' rel="noreferrer"' : ''}>${label}</a>`;
      },
      image({ href, text }) {
        return `<img src="${escapeHtml(places.imageOf(href))}" alt="${escapeHtml(text)}" loading="lazy">`;
      },
      html({ text }) {
        const diagram = /^<!-- diagram: ([\w-]+) -->/.exec(text.trim());
        if (diagram?.[1]) return places.diagramOf(diagram[1]);
        return text.replace(/<!--[\s\S]*?-->/g, '');
      },
    },
  });

  const lexed = marked.lexer(markdown);
  nameSnippets(lexed);
  const tokens = groupTabs(lexed);
  const html = marked.parser(tokens);
  fillSections(tokens, sections);
  const [first] = sections;
  if (first === undefined || first.depth !== 1)
    throw new Error('A page of docs/ must start with a first-level heading.');
  const summary = plainText(tokens.find(({ type }) => type === 'paragraph')?.tokens ?? []);
  return {
    title: first.title,
    summary: /^.*?[.:](?=\s|$)/s.exec(summary)?.[0].replace(/\s+/g, ' ').replace(/:$/, '.') ?? summary,
    html,
    sections: [...sections, ...rowSections],
  };
}

/** @param {{ lang?: string }} code */
function languageOf({ lang = '' }) {
  return lang.split(' ')[0] ?? '';
}

/** The label of a block that is one of several variants: ```sh tab="curl". @param {{ lang?: string }} code */
function tabOf({ lang = '' }) {
  return / tab="([^"]+)"/.exec(lang)?.[1];
}

/** @param {any} code */
function codeFigure(code) {
  const tab = tabOf(code);
  const label = tab === undefined ? '' : `<span class="tab-name">${escapeHtml(tab)}</span> `;
  const caption = `${label}${code.file === undefined ? '' : escapeHtml(code.file)}`;
  const name = caption === '' ? '' : `<figcaption>${caption}</figcaption>`;
  return `<figure class="code">${name}<pre tabindex="0"><code>${highlight(code.text, languageOf(code))}</code></pre></figure>\n`;
}

/** All variants, one below the other; tabs.js shows one at a time. @param {any[]} codes */
function tabsOf(codes) {
  const panels = codes.map(
    (code) => `<div class="tab" data-tab="${escapeHtml(tabOf(code) ?? '')}">${codeFigure(code)}</div>`,
  );
  return `<div class="tabs">${panels.join('')}</div>\n`;
}

/** Consecutive code blocks with a `tab` become one token; only their snippet comments may be between them. @param {any[]} tokens */
function groupTabs(tokens) {
  /** @type {any[]} */
  const grouped = [];
  /** @type {any[]} */
  let between = [];
  for (const token of tokens) {
    const tabs = grouped.at(-1)?.tabs;
    if (token.type === 'code' && tabOf(token) !== undefined) {
      if (tabs) tabs.push(token);
      else grouped.push(...between, { type: 'tabs', raw: '', tabs: [token] });
      between = [];
    } else if (token.type === 'space' || /^<!-- snippet:/.test(token.raw)) {
      between.push(token);
    } else {
      grouped.push(...between, token);
      between = [];
    }
  }
  return [...grouped, ...between];
}

/** The code block after a comment `snippet: NAME` is that file, and shows its name. @param {any[]} tokens */
function nameSnippets(tokens) {
  tokens.forEach((token, at) => {
    const name = token.type === 'html' && /<!-- snippet: (\S+) -->/.exec(token.text)?.[1];
    if (!name) return;
    const code = tokens.slice(at + 1).find(({ type }) => type !== 'space');
    if (code?.type !== 'code') throw new Error(`No code follows the comment of the snippet ${name}.`);
    code.file = name;
  });
}

/** The code of a cell that has nothing else, such as an event type. @param {any} cell @returns {string | undefined} */
function codeOf({ tokens }) {
  return tokens.length === 1 && tokens[0].type === 'codespan' ? tokens[0].text : undefined;
}

/** @param {any[]} tokens @param {{ text: string }[]} sections */
function fillSections(tokens, sections) {
  let at = -1;
  for (const token of tokens) {
    if (token.type === 'heading') at += 1;
    else if (at >= 0 && !['html', 'space'].includes(token.type) && token.lang !== 'mermaid') {
      sections[at].text = `${sections[at].text} ${textOf(token)}`.replace(/\s+/g, ' ').trim();
    }
  }
}

/** @param {any} token @returns {string} */
function textOf(token) {
  if (token.type === 'tabs') return token.tabs.map(textOf).join(' ');
  if (token.type === 'table') return textOfCells([token.header, ...token.rows].flat());
  if (token.type === 'list') return token.items.map((item) => plainText(item.tokens)).join(' ');
  return token.tokens ? plainText(token.tokens) : (token.text ?? '');
}

/** @param {any[]} cells */
function textOfCells(cells) {
  return cells
    .map(({ tokens }) => plainText(tokens))
    .filter(Boolean)
    .join(' ');
}

/** @param {any[]} tokens @returns {string} */
function plainText(tokens) {
  return tokens
    .map((token) =>
      token.tokens ? plainText(token.tokens) : token.type === 'html' ? '' : (token.text ?? token.raw ?? ''),
    )
    .join('');
}

/**
 * Where a link leads on the site. A link to a repository file outside docs/ becomes plain text, because no page shows that file.
 * @param {string} href
 * @param {Places} places
 */
function addressOfLink(href, places) {
  if (/^(https?:|\/|#|mailto:)/.test(href)) return href;
  const [file = '', anchor] = href.split('#');
  if (file === '../README.md') return '/docs';
  if (/^soak\/[\w-]+\.html$/.test(file)) return `/docs/${file.replace(/\.html$/, '')}`;
  if (!file.endsWith('.md') || file.startsWith('../')) return undefined;
  return `${places.addressOf(file)}${anchor === undefined ? '' : `#${anchor}`}`;
}
