import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Access to the documentation sources in docs/ and to the built site. */
export const root = new URL('../../', import.meta.url);
export const docs = new URL('docs/', root);
export const built = new URL('dist/docs/', root);

export interface Served {
  readonly path: string;
  readonly file: string;
  readonly kind: 'page' | 'reference' | 'markdown' | 'text' | 'image' | 'report';
}

export function readServed(): readonly Served[] {
  if (!existsSync(new URL('pages.json', built)))
    throw new Error('dist/docs is missing: run `npm run build` first.');
  return JSON.parse(readFileSync(new URL('pages.json', built), 'utf8')) as readonly Served[];
}

export interface Group {
  readonly title: string;
  readonly pages: readonly string[];
}

export function readNavigation(): readonly Group[] {
  return JSON.parse(readFileSync(new URL('navigation.json', docs), 'utf8')) as readonly Group[];
}

/** Every Markdown file of docs/, by its name. */
export function readMarkdown(): ReadonlyMap<string, string> {
  const files = readdirSync(docs).filter((name) => name.endsWith('.md'));
  return new Map(files.map((name) => [name, readFileSync(new URL(name, docs), 'utf8')]));
}
