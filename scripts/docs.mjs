// `node scripts/docs.mjs DIST MODULES`: builds the site under `/docs` from docs/*.md, into DIST/docs. MODULES has the compiled
// server, whose tables provide the diagrams, the error catalogue and the list of operations. The build runs it.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import MiniSearch from 'minisearch';
import { rolldown } from 'rolldown';
import { diagramFigure } from './docs/diagram.mjs';
import { documentPage, missingPage, referencePage } from './docs/frame.mjs';
import { errorsContent, llmsText, operationsMarkdown } from './docs/generated.mjs';
import { slugOf } from './docs/html.mjs';
import { render } from './docs/markdown.mjs';
import { searchOptions } from './docs/search-options.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const source = path.join(root, 'docs');
const [dist = '', modules = ''] = process.argv.slice(2).map((folder) => path.resolve(folder));
const target = path.join(dist, 'docs');
const scalarFile = path.join(root, 'node_modules/@scalar/fastify-api-reference/dist/js/standalone.js');

/** @param {string} file @returns {Promise<any>} */
const compiled = (file) => import(pathToFileURL(path.join(modules, 'src', file)).href);
const { resources, routes } = await compiled('resources/index.js');
const { diagramOf } = await compiled('http/reference.js');
const { errorCatalogue } = await compiled('kernel/errors.js');
const { scopesNeeded } = await compiled('kernel/permissions.js');

fs.rmSync(target, { recursive: true, force: true });
fs.mkdirSync(path.join(target, 'assets'), { recursive: true });

const assets = {
  top: copyAsset('scripts/docs/top.css'),
  style: copyAsset('scripts/docs/docs.css'),
  theme: copyAsset('scripts/docs/theme.js'),
  script: copyAsset('scripts/docs/docs.js'),
  tabs: copyAsset('scripts/docs/tabs.js'),
  reference: copyAsset('scripts/docs/reference.js'),
  scalar: writeAsset('scalar.js', fs.readFileSync(scalarFile)),
  mark: copyAsset('console/mark.svg'),
  searchScript: writeAsset('search.js', await bundledScript('scripts/docs/search.js')),
  searchIndex: '',
};
/** Pages whose table rows have anchors and search entries, with the kind of the rows. */
const rowKinds = new Map([
  ['events', 'Event type'],
  ['scenarios', 'Scenario'],
]);

const documents = new Map(readDocuments().map((document) => [document.name, document]));
/** @type {{ title: string, pages: string[] }[]} */
const navigation = JSON.parse(fs.readFileSync(path.join(source, 'navigation.json'), 'utf8'));
const groups = navigation
  .map(({ title, pages }) => ({ title, pages: pages.flatMap((name) => entryOf(name) ?? []) }))
  .filter(({ pages }) => pages.length > 0);
const order = groups.flatMap(({ pages }) => pages);

const index = new MiniSearch(searchOptions);
index.addAll(searchEntries());
assets.searchIndex = writeAsset('search.json', Buffer.from(JSON.stringify(index)));

/** The pages that the server serves; all other addresses are not found. */
/** @type {{ path: string, file: string, kind: string, styleHash?: string }[]} */
const served = [];
for (const document of documents.values()) {
  const place = order.findIndex(({ name }) => name === document.name);
  write(
    addressOf(document.name),
    `${document.name}.html`,
    'page',
    documentPage(document, {
      assets,
      groups,
      previous: place > 0 ? order[place - 1] : undefined,
      next: place === -1 ? undefined : order[place + 1],
    }),
  );
  write(`/docs/${document.name}.md`, `${document.name}.md`, 'markdown', document.markdown);
}
write('/docs/reference', 'reference.html', 'reference', referencePage(assets));
write('', 'missing.html', 'missing', missingPage({ assets, groups }));
const listed = order.flatMap(({ name }) => documents.get(name) ?? []);
const rest = [...documents.values()].filter((document) => !listed.includes(document));
write('/llms.txt', 'llms.txt', 'text', llmsText(groups, documents, routes, scopesNeeded));
write(
  '/llms-full.txt',
  'llms-full.txt',
  'text',
  [...listed, ...rest]
    .map(({ markdown }) => markdown.trim())
    .join('\n\n---\n\n')
    .concat('\n'),
);
// Reports of the soak test are separate pages with one style element, which the server allows by its hash.
for (const file of fs.readdirSync(path.join(source, 'soak')).filter((name) => name.endsWith('.html'))) {
  const html = fs.readFileSync(path.join(source, 'soak', file), 'utf8');
  const style = /<style>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? '';
  const styleHash = createHash('sha256').update(style).digest('base64');
  write(`/docs/soak/${file.replace(/\.html$/, '')}`, `soak/${file}`, 'report', html, { styleHash });
}
fs.writeFileSync(path.join(target, 'pages.json'), JSON.stringify(served, null, 1));

/** Every section of every page, error code, event type and scenario; operations lead to the API reference. */
function searchEntries() {
  const excerptLength = 160;
  const sections = [...documents.values()].flatMap(({ name, title: page, sections }) =>
    sections.map(({ id, title, text, kind = '' }) => ({
      ...{ address: `${addressOf(name)}${id === '' ? '' : `#${id}`}`, kind, page, title, names: '', text },
    })),
  );
  const operations = routes.map(({ operationId, method, path: route, tag, summary }) => ({
    address: `/docs/reference#tag/${slugOf(tag)}/${operationId}`,
    kind: 'Operation',
    page: tag,
    title: `${method} /_api/${route}`,
    names: operationId,
    text: summary,
  }));
  return [...sections, ...operations].map((entry) => {
    // Descriptions of errors and operations are Markdown; the search shows plain text.
    const text = entry.text.replaceAll('`', '');
    const isLong = text.length > excerptLength;
    return { ...entry, text, excerpt: isLong ? `${text.slice(0, excerptLength).trimEnd()}…` : text };
  });
}

function readDocuments() {
  const files = fs.readdirSync(source).filter((name) => name.endsWith('.md'));
  const sources = files.map((file) => ({ file, markdown: fs.readFileSync(path.join(source, file), 'utf8') }));
  sources.push({ file: 'operations.md', markdown: operationsMarkdown(routes, scopesNeeded) });
  return sources.map(({ file, markdown }) => {
    const name = nameOf(file);
    const rendered = render(markdown, {
      addressOf: (link) => addressOf(nameOf(path.posix.join(path.posix.dirname(file), link))),
      imageOf: (link) => `/docs/${path.posix.join(path.posix.dirname(file), link)}`,
      diagramOf: (resource) =>
        diagramFigure(resource, machineText(resource), { hasTextList: true, setbacks: setbacksOf(resource) }),
      rowKind: rowKinds.get(name),
      drawn: (text, heading) =>
        diagramFigure(heading, text, { hasTextList: false, setbacks: setbacksOf(heading) }),
    });
    if (name === 'errors') Object.assign(rendered, errorsContent(errorCatalogue));
    return { name, markdown, ...rendered };
  });
}

/** A page is named after its file, in lower case. @param {string} file */
function nameOf(file) {
  return file.replace(/\.md$/, '').toLowerCase();
}

/** @param {string} name */
function addressOf(name) {
  return name === 'index' ? '/docs' : `/docs/${name}`;
}

/** @param {string} name */
function entryOf(name) {
  if (name === 'reference') return { name, title: 'API reference', address: addressOf(name) };
  const document = documents.get(name);
  if (document && name === 'index') return { name, title: 'Introduction', address: addressOf(name) };
  return document && { name, title: document.title, address: addressOf(name) };
}

/** @param {string} resource */
function machineText(resource) {
  const found = resources.find(({ name }) => name === resource);
  if (!found) throw new Error(`A page shows the diagram of "${resource}", which is not a resource.`);
  return diagramOf(found.machine);
}

/** Of a resource by its name, or by the heading of its diagram; other diagrams have none. @param {string} name */
function setbacksOf(name) {
  const resource = name.replace(/ states$/, '').toLowerCase();
  return resources.find((one) => one.name === resource)?.machine.setbacks ?? [];
}

/** @param {string} file */
function copyAsset(file) {
  return writeAsset(path.basename(file), fs.readFileSync(path.join(root, file)));
}

/** A script with everything that it imports. @param {string} file */
async function bundledScript(file) {
  const bundle = await rolldown({ input: path.join(root, file), platform: 'browser', logLevel: 'silent' });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  return Buffer.from(output[0].code);
}

/** The name contains a hash of the content, so browsers may cache it for ever. @param {string} name @param {Buffer} content */
function writeAsset(name, content) {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 10);
  const file = name.replace(/\.(\w+)$/, `-${hash}.$1`);
  const place = path.join(target, 'assets', file);
  fs.writeFileSync(place, content);
  // At its best quality, Brotli takes ten seconds for the 3.5 MB of Scalar, and saves little.
  const quality = content.length > 1_000_000 ? 9 : 11;
  fs.writeFileSync(
    `${place}.br`,
    brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }),
  );
  fs.writeFileSync(`${place}.gz`, gzipSync(content, { level: 9 }));
  return `/docs/assets/${file}`;
}

/** @param {string} address @param {string} file @param {string} kind @param {string} text @param {{ styleHash?: string }} more */
function write(address, file, kind, text, more = {}) {
  const place = path.join(target, file);
  fs.mkdirSync(path.dirname(place), { recursive: true });
  fs.writeFileSync(place, text);
  if (address !== '') served.push({ path: address, file, kind, ...more });
}
