import { cpSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Runtime } from './runtimes.ts';

/** A receiver of the docs, and how its page says to start it. */
export interface DocumentedReceiver {
  readonly title: string;
  /** Node by default. */
  readonly runtime?: Runtime;
  /** The path of the endpoint; `/webhooks` by default. */
  readonly path?: string;
  /** The status for a request without a valid signature; 401 by default. */
  readonly unsigned?: 400;
  /** Whether it checks the Content-Length of a body or counts the bytes that it reads. */
  readonly sizeCheck: 'declared' | 'read' | 'none';
  /** The arguments that compile it, for a runtime that does not start sources. */
  readonly build?: (folder: string) => readonly string[];
  readonly command: (start: Start) => readonly string[];
}

interface Start {
  readonly runtime: string;
  /** A copy of docs/snippets. */
  readonly folder: string;
  readonly port: number;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
const tsx = join(root, 'node_modules/tsx/dist/cli.mjs');
const serveRoute = fileURLToPath(new URL('serve-route.ts', import.meta.url));

export const receivers: readonly DocumentedReceiver[] = [
  {
    title: 'TypeScript',
    path: '/',
    unsigned: 400,
    sizeCheck: 'none',
    command: ({ runtime, folder }) => [runtime, tsx, `${folder}/receive-webhooks.ts`],
  },
  {
    title: 'Python',
    runtime: 'python',
    path: '/',
    unsigned: 400,
    sizeCheck: 'declared',
    command: ({ runtime, folder }) => [runtime, `${folder}/receive_webhooks.py`],
  },
  {
    title: 'Express',
    sizeCheck: 'read',
    command: ({ runtime, folder }) => [runtime, `${folder}/recipes/express/receiver.mjs`],
  },
  {
    title: 'Fastify',
    sizeCheck: 'declared',
    command: ({ runtime, folder }) => [runtime, `${folder}/recipes/fastify/receiver.mjs`],
  },
  {
    title: 'Next.js',
    sizeCheck: 'read',
    command: ({ runtime, folder }) => [runtime, tsx, serveRoute, `${folder}/recipes/next/route.ts`],
  },
  {
    title: 'Flask',
    runtime: 'flask',
    sizeCheck: 'declared',
    command: ({ runtime, folder, port }) => {
      const app = `${folder}/recipes/flask/receiver`;
      return [runtime, '-m', 'flask', '--app', app, 'run', '--port', String(port)];
    },
  },
  {
    title: 'Django',
    runtime: 'django',
    sizeCheck: 'declared',
    command: ({ runtime, folder, port }) => {
      const manage = `${folder}/recipes/django/manage.py`;
      return [runtime, manage, 'runserver', '--noreload', String(port)];
    },
  },
  {
    title: 'Go',
    runtime: 'go',
    sizeCheck: 'read',
    build: (folder) => ['build', '-o', `${folder}/receiver-go`, `${folder}/recipes/go/receiver.go`],
    command: ({ folder }) => [`${folder}/receiver-go`],
  },
  {
    title: 'PHP',
    runtime: 'php',
    sizeCheck: 'read',
    command: ({ runtime, folder, port }) => [
      runtime,
      '-S',
      `127.0.0.1:${port}`,
      `${folder}/recipes/php/receiver.php`,
    ],
  },
];

/** A copy of docs/snippets in which the packages of the install lines can be imported. The caller deletes it. */
export function copySnippets(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sandbank-receivers-'));
  cpSync(join(root, 'docs/snippets'), folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  const packages = join(folder, 'node_modules');
  mkdirSync(join(packages, 'sandbank-client'), { recursive: true });
  for (const name of ['express', 'fastify', 'standardwebhooks'])
    symlinkSync(join(root, 'node_modules', name), join(packages, name));
  const exports = { '.': { types: './sdk/client.d.ts', default: './sdk/client.js' } };
  writeFileSync(join(packages, 'sandbank-client/package.json'), JSON.stringify({ type: 'module', exports }));
  symlinkSync(join(root, 'dist/sdk'), join(packages, 'sandbank-client/sdk'));
  return folder;
}
