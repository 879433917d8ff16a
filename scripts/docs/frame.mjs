import { escapeHtml } from './html.mjs';

/**
 * @typedef {{ name: string, title: string, address: string }} Entry
 * @typedef {{ title: string, pages: Entry[] }} Group
 * @typedef {Record<'top' | 'style' | 'theme' | 'script' | 'reference' | 'scalar' | 'mark' | 'search', string>} Assets
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
    /** @type {string} */ words,
  ) =>
    entry === undefined
      ? ''
      : `<a rel="${rel}" href="${entry.address}"><span>${words}</span> ${escapeHtml(entry.title)}</a>`;
  return frame({
    ...{ assets, groups, name, title },
    description: summary,
    head: `<link rel="alternate" type="text/markdown" href="/docs/${name}.md" title="This page as Markdown">`,
    main: `<main id="main" tabindex="-1"><article class="text">
${contents === '' ? '' : `<details class="contents-small"><summary>On this page</summary>${contents}</details>`}
${html}</article>
<footer class="foot"><nav class="turn" aria-label="Previous and next page">${link(previous, 'prev', 'Previous')}${link(next, 'next', 'Next')}</nav>
<p class="foot-words"><a href="/docs/${name}.md">This page as Markdown</a></p></footer></main>
${contents === '' ? '' : `<nav class="contents" aria-label="On this page"><p>On this page</p>${contents}</nav>`}`,
  });
}

/** @param {{ assets: Assets, groups: Group[] }} place */
export function missingPage({ assets, groups }) {
  return frame({
    ...{ assets, groups, name: '', head: '', title: 'Not found', description: 'There is no such page.' },
    main: `<main id="main" tabindex="-1"><article class="text"><h1>There is no such page</h1>
<p>The address may have a mistake in it. <a href="/docs">The first page</a> leads everywhere, and the navigation lists all pages.</p></article></main>`,
  });
}

/** Scalar draws the whole page below our header; without scripts the table of operations says as much. @param {Assets} assets */
export function referencePage(assets) {
  return `${opening({ assets, title: 'API reference', description: 'Every operation with its parameters, bodies and answers.', head: `<script src="${assets.scalar}" defer></script>\n<script src="${assets.reference}" defer></script>` })}
<body class="reference">
${header(assets, { hasSearch: false })}
<noscript><p class="notice">The reference needs JavaScript. <a href="/docs/operations">Operations</a> lists the same on a plain page, and <a href="/openapi.json">openapi.json</a> is the contract itself.</p></noscript>
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
<body data-search="${assets.search}">
<a class="skip" href="#main">Skip to the text</a>
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

/** What only works with scripts is hidden until one shows it. @param {Assets} assets @param {{ hasSearch: boolean }} options */
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
