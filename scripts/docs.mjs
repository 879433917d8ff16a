// `node scripts/docs.mjs DIST MODULES`: makes the site of `/docs` from docs/*.md, into DIST/docs. MODULES has the compiled
// server, whose tables give the diagrams, the error catalogue and the list of operations. The build calls it.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { diagramFigure } from './docs/diagram.mjs';
import { documentPage, missingPage, referencePage } from './docs/frame.mjs';
import { errorsContent, llmsText, operationsMarkdown } from './docs/generated.mjs';
import { render } from './docs/markdown.mjs';

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
const { scopesNeeded } = await compiled('kernel/scopes.js');

fs.rmSync(target, { recursive: true, force: true });
fs.mkdirSync(path.join(target, 'assets'), { recursive: true });

const assets = {
  top: writeAsset('top.css', fs.readFileSync(path.join(root, 'scripts/docs/top.css'))),
  style: writeAsset('docs.css', fs.readFileSync(path.join(root, 'scripts/docs/docs.css'))),
  theme: writeAsset('theme.js', fs.readFileSync(path.join(root, 'scripts/docs/theme.js'))),
  script: writeAsset('docs.js', fs.readFileSync(path.join(root, 'scripts/docs/docs.js'))),
  reference: writeAsset('reference.js', fs.readFileSync(path.join(root, 'scripts/docs/reference.js'))),
  scalar: writeAsset('scalar.js', fs.readFileSync(scalarFile)),
  mark: writeAsset('mark.svg', fs.readFileSync(path.join(root, 'console/mark.svg'))),
  search: '',
};

const documents = new Map(readDocuments().map((document) => [document.name, document]));
/** @type {{ title: string, pages: string[] }[]} */
const navigation = JSON.parse(fs.readFileSync(path.join(source, 'navigation.json'), 'utf8'));
// A page of the navigation that is not written yet is left out; a test says which ones may be missing.
const groups = navigation
  .map(({ title, pages }) => ({ title, pages: pages.flatMap((name) => entryOf(name) ?? []) }))
  .filter(({ pages }) => pages.length > 0);
const order = groups.flatMap(({ pages }) => pages);

assets.search = writeAsset(
  'search.json',
  Buffer.from(
    JSON.stringify(
      [...documents.values()].flatMap(({ name, title, sections }) =>
        sections.map((section) => [
          `${addressOf(name)}${section.id === '' ? '' : `#${section.id}`}`,
          title,
          section.title,
          section.text,
        ]),
      ),
    ),
  ),
);

/** What the server serves, and as what; addresses that are not here are not there. */
/** @type {{ path: string, file: string, kind: string }[]} */
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
const images = path.join(source, 'images');
for (const name of fs.existsSync(images) ? fs.readdirSync(images) : []) {
  fs.mkdirSync(path.join(target, 'images'), { recursive: true });
  fs.copyFileSync(path.join(images, name), path.join(target, 'images', name));
  served.push({ path: `/docs/images/${name}`, file: `images/${name}`, kind: 'image' });
}
fs.writeFileSync(path.join(target, 'pages.json'), JSON.stringify(served, null, 1));

function readDocuments() {
  const files = ['', 'decisions/'].flatMap((folder) =>
    fs
      .readdirSync(path.join(source, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}${name}`),
  );
  const made = files.map((file) => ({ file, markdown: fs.readFileSync(path.join(source, file), 'utf8') }));
  made.push({ file: 'operations.md', markdown: operationsMarkdown(routes, scopesNeeded) });
  return made.map(({ file, markdown }) => {
    const name = nameOf(file);
    const rendered = render(markdown, {
      addressOf: (link) => addressOf(nameOf(path.posix.join(path.posix.dirname(file), link))),
      imageOf: (link) => `/docs/${path.posix.join(path.posix.dirname(file), link)}`,
      diagramOf: (resource) => diagramFigure(resource, machineText(resource), { inWords: true }),
      drawn: (text, heading) => diagramFigure(heading, text, { inWords: false }),
    });
    if (name === 'errors') Object.assign(rendered, errorsContent(errorCatalogue));
    return { name, markdown, ...rendered };
  });
}

/** The name of a page is that of its file, in small letters; a folder is named by its README. @param {string} file */
function nameOf(file) {
  return file
    .replace(/\.md$/, '')
    .replace(/\/README$/, '')
    .toLowerCase();
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
  if (!found) throw new Error(`A page asks for the diagram of "${resource}", and there is no such resource.`);
  return diagramOf(found.machine);
}

/** Named by its content, so that browsers may keep it for ever. @param {string} name @param {Buffer} content */
function writeAsset(name, content) {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 10);
  const file = name.replace(/\.(\w+)$/, `-${hash}.$1`);
  const place = path.join(target, 'assets', file);
  fs.writeFileSync(place, content);
  // The best of Brotli takes ten seconds for a script of 3.5 MB, and gains little over the step below it.
  const quality = content.length > 1_000_000 ? 9 : 11;
  fs.writeFileSync(
    `${place}.br`,
    brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }),
  );
  fs.writeFileSync(`${place}.gz`, gzipSync(content, { level: 9 }));
  return `/docs/assets/${file}`;
}

/** @param {string} address @param {string} file @param {string} kind @param {string} text */
function write(address, file, kind, text) {
  const place = path.join(target, file);
  fs.mkdirSync(path.dirname(place), { recursive: true });
  fs.writeFileSync(place, text);
  if (address !== '') served.push({ path: address, file, kind });
}
