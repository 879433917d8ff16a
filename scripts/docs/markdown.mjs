import { Marked } from 'marked';
import { highlight } from './highlight.mjs';
import { escapeHtml, slugOf } from './html.mjs';

/**
 * @typedef {object} Places
 * @property {(link: string) => string} addressOf where a page of ours is served
 * @property {(link: string) => string} imageOf
 * @property {(resource: string) => string} diagramOf a lifecycle, drawn
 * @property {(text: string, heading: string) => string} drawn a Mermaid state diagram, drawn
 */

/**
 * A page of Markdown as HTML, with what the frame, the search and llms.txt need of it.
 * @param {string} markdown
 * @param {Places} places
 */
export function render(markdown, places) {
  /** @type {{ id: string, depth: number, title: string, text: string }[]} */
  const sections = [];
  /** @type {Set<string>} */
  const ids = new Set();
  let heading = '';

  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth }) {
        const title = plainText(tokens);
        heading = title;
        const content = this.parser.parseInline(tokens);
        if (depth === 1) {
          sections.push({ id: '', depth, title, text: '' });
          return `<h1>${content}</h1>\n`;
        }
        const slug = slugOf(title);
        let id = slug;
        for (let count = 1; ids.has(id); count += 1) id = `${slug}-${count}`;
        ids.add(id);
        sections.push({ id, depth, title, text: '' });
        const label = escapeHtml(`Link to ${title}`);
        return `<h${depth} id="${id}">${content} <a class="anchor" href="#${id}" aria-label="${label}">#</a></h${depth}>\n`;
      },
      code({ text, lang = '', file }) {
        const [language = ''] = lang.split(' ');
        if (language === 'mermaid') return places.drawn(text, heading);
        const name = file === undefined ? '' : `<figcaption>${escapeHtml(file)}</figcaption>`;
        return `<figure class="code">${name}<pre tabindex="0"><code>${highlight(text, language)}</code></pre></figure>\n`;
      },
      table({ header, rows }) {
        const row = (/** @type {any[]} */ cells, /** @type {string} */ tag) =>
          `<tr>${cells
            .map((cell) => {
              // A corner without words is no heading of anything.
              const name = cell.text === '' ? 'td' : tag;
              return `<${name}>${this.parser.parseInline(cell.tokens)}</${name}>`;
            })
            .join('')}</tr>`;
        const isHeadless = header.every((cell) => cell.text === '');
        const head = isHeadless ? '' : `<thead>${row(header, 'th')}</thead>`;
        return `<div class="wide" tabindex="0"><table>${head}<tbody>${rows.map((cells) => row(cells, 'td')).join('')}</tbody></table></div>\n`;
      },
      link({ href, tokens }) {
        const address = addressOfLink(href, places);
        const words = this.parser.parseInline(tokens);
        if (address === undefined) return words;
        return `<a href="${escapeHtml(address)}"${/^https?:/.test(href) ? ' rel="noreferrer"' : ''}>${words}</a>`;
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

  const tokens = marked.lexer(markdown);
  nameSnippets(tokens);
  const html = marked.parser(tokens);
  fillSections(tokens, sections);
  const [first] = sections;
  if (first === undefined || first.depth !== 1)
    throw new Error('A page of docs/ begins with a heading of the first level.');
  const summary = plainText(tokens.find(({ type }) => type === 'paragraph')?.tokens ?? []);
  return {
    title: first.title,
    summary: /^.*?[.:](?=\s|$)/s.exec(summary)?.[0].replace(/\s+/g, ' ').replace(/:$/, '.') ?? summary,
    html,
    sections,
  };
}

/** The code below a comment `snippet: NAME` is that file, and says so. @param {any[]} tokens */
function nameSnippets(tokens) {
  tokens.forEach((token, at) => {
    const name = token.type === 'html' && /<!-- snippet: (\S+) -->/.exec(token.text)?.[1];
    if (!name) return;
    const code = tokens.slice(at + 1).find(({ type }) => type !== 'space');
    if (code?.type !== 'code') throw new Error(`No code follows the comment of the snippet ${name}.`);
    code.file = name;
  });
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
  if (token.type === 'table') {
    return [token.header, ...token.rows]
      .flat()
      .map((cell) => plainText(cell.tokens))
      .join(' ');
  }
  if (token.type === 'list') return token.items.map((item) => plainText(item.tokens)).join(' ');
  return token.tokens ? plainText(token.tokens) : (token.text ?? '');
}

/** @param {any[]} tokens @returns {string} */
export function plainText(tokens) {
  return tokens
    .map((token) =>
      token.tokens ? plainText(token.tokens) : token.type === 'html' ? '' : (token.text ?? token.raw ?? ''),
    )
    .join('');
}

/**
 * Where a link leads on the site. What lies outside of docs/ is a file of the repository that no page shows: its words stay.
 * @param {string} href
 * @param {Places} places
 */
function addressOfLink(href, places) {
  if (/^(https?:|\/|#|mailto:)/.test(href)) return href;
  const [file = '', anchor] = href.split('#');
  if (file === '../README.md') return '/docs';
  if (!file.endsWith('.md') || file.startsWith('../')) return undefined;
  return `${places.addressOf(file)}${anchor === undefined ? '' : `#${anchor}`}`;
}
