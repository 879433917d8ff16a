import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ApiDocument } from './document.ts';
import { generateSdk } from './generate.ts';

const root = new URL('../../', import.meta.url);
const document = JSON.parse(readFileSync(new URL('docs/openapi.json', root), 'utf8')) as ApiDocument;
mkdirSync(new URL('sdk/generated/', root), { recursive: true });
for (const [path, text] of generateSdk(document)) writeFileSync(new URL(path, root), text);
