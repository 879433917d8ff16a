import { escapeHtml } from './html.mjs';

/**
 * @typedef {{ name: string, title: string, address: string }} Entry
 * @typedef {{ title: string, pages: Entry[] }} Group
 * @typedef {Record<'top' | 'style' | 'theme' | 'script' | 'tabs' | 'reference' | 'scalar' | 'mark' | 'searchScript' | 'searchIndex', string>} Assets
 */

/**
 * @param {{ name: string, title: string, summary: string, html: string, sections: { id: string, depth: number, title: string }[] }} document
 * @param {{ assets: Assets, groups: Group[], previous?: Entry, next?: Entry }} place
 */
export function documentPage({ name, title, summary, html, sections }, { assets, groups, previous, next }) {
  const contents = contentsOf(sections);
  const link = (
    /** @type {Entry | undefined} */ entry,
    /** @type {string} */ rel,
    /** @type {string} */ label,
  ) =>
    entry === undefined
      ? ''
      : `<a rel="${rel}" href="${entry.address}"><span>${label}</span> ${escapeHtml(entry.title)}</a>`;
  return frame({
    ...{ assets, groups, name, title },
    description: summary,
    head: `<link rel="alternate" type="text/markdown" href="/docs/${name}.md" title="This page as Markdown">${html.includes('<div class="tabs">') ? `\n<script src="${assets.tabs}" defer></script>` : ''}`,
    main: `<main id="main" tabindex="-1"><article class="text">
${contents === '' ? '' : `<details class="contents-small"><summary>On this page</summary>${contents}</details>`}
${html}</article>
<footer class="foot"><nav class="turn" aria-label="Previous and next page">${link(previous, 'prev', 'Previous')}${link(next, 'next', 'Next')}</nav>
<p class="foot-note"><a href="/docs/${name}.md">This page as Markdown</a></p></footer></main>
${contents === '' ? '' : `<nav class="contents" aria-label="On this page"><p>On this page</p>${contents}</nav>`}`,
  });
}

/** @param {{ assets: Assets, groups: Group[] }} place */
export function missingPage({ assets, groups }) {
  return frame({
    ...{ assets, groups, name: '', head: '', title: 'Not found', description: 'This page does not exist.' },
    main: `<main id="main" tabindex="-1"><article class="text"><h1>Page not found</h1>
<p>Check the address, search the docs, or start at the <a href="/docs">introduction</a>.</p></article></main>`,
  });
}

/** Scalar renders the page below our header. Without scripts, the page links to the list of operations. @param {Assets} assets */
export function referencePage(assets) {
  return `${opening({ assets, title: 'API reference', description: 'All API operations with their parameters, request bodies and responses.', head: `<script src="${assets.scalar}" defer></script>\n<script src="${assets.reference}" defer></script>` })}
<body class="reference">
${header(assets, { hasSearch: false })}
<noscript><p class="notice">The API reference requires JavaScript. <a href="/docs/operations">Operations</a> lists all operations without it, and <a href="/openapi.json">openapi.json</a> is the complete contract.</p></noscript>
<div id="reference"></div>
</body>
</html>
`;
}

/** @param {{ assets: Assets, groups: Group[], name: string, title: string, description: string, head: string, main: string }} page */
function frame({ assets, groups, name, title, description, head, main }) {
  const navigation = groups
    .map(
      (group) =>
        `<p>${escapeHtml(group.title)}</p><ul>${group.pages
          .map(
            (page) =>
              `<li><a href="${page.address}"${page.name === name ? ' aria-current="page"' : ''}>${escapeHtml(page.title)}</a></li>`,
          )
          .join('')}</ul>`,
    )
    .join('');
  return `${opening({ assets, title, description, head: `<link rel="stylesheet" href="${assets.style}">\n${head}\n<script src="${assets.script}" defer></script>` })}
<body data-search-script="${assets.searchScript}" data-search-index="${assets.searchIndex}">
<a class="skip" href="#main">Skip to content</a>
${header(assets, { hasSearch: true })}
<details class="menu"><summary>Menu</summary><nav aria-label="Pages">${navigation}</nav></details>
<div class="columns">
<nav class="pages" aria-label="Pages">${navigation}</nav>
${main}
</div>
</body>
</html>
`;
}

/** @param {{ assets: Assets, title: string, description: string, head: string }} page */
function opening({ assets, title, description, head }) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title === 'Sandbank' ? 'Docs' : escapeHtml(title)} · Sandbank</title>
<meta name="description" content="${escapeHtml(description)}">
<link rel="icon" href="${assets.mark}" type="image/svg+xml">
<link rel="stylesheet" href="${assets.top}">
<script src="${assets.theme}"></script>
${head}
</head>`;
}

/** Controls that need scripts are hidden until a script shows them. @param {Assets} assets @param {{ hasSearch: boolean }} options */
function header(assets, { hasSearch }) {
  const search = hasSearch
    ? `<div class="search" role="search" hidden><input type="search" id="search" aria-label="Search the docs" placeholder="Search" autocomplete="off" spellcheck="false"><kbd aria-hidden="true">/</kbd><div class="found" hidden><p class="found-count" role="status"></p><ul></ul></div></div>`
    : '<span class="room"></span>';
  return `<header class="top"><a class="home" href="/docs"><img src="${assets.mark}" alt="" width="24" height="24"><span>Sandbank</span> <span class="home-docs">Docs</span></a>${search}<nav class="links" aria-label="Sandbank"><a href="/docs/reference">API reference</a><a href="/console">Console</a></nav><button type="button" class="theme" hidden></button></header>`;
}

/** @param {{ id: string, depth: number, title: string }[]} sections */
function contentsOf(sections) {
  const shown = sections.filter(({ depth }) => depth === 2 || depth === 3);
  if (shown.length < 2) return '';
  return `<ul>${shown.map(({ id, depth, title }) => `<li class="depth-${depth}"><a href="#${id}">${escapeHtml(title)}</a></li>`).join('')}</ul>`;
}
