import type { FastifyInstance } from 'fastify';

export interface ServedRoute {
  readonly method: 'GET' | 'POST';
  /** Below the prefix, with parameters as `:id`. */
  readonly path: string;
}

/** Every route below a prefix, read from the server itself, so that none can be left out. */
export function servedRoutes(app: FastifyInstance, prefix: string): readonly ServedRoute[] {
  const parents: string[] = [];
  const known: ServedRoute[] = [];
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const found = /^(.*?)(?:├──|└──) (\S+) \(([A-Z, ]+)\)$/.exec(line);
    if (!found) continue;
    const [, indent = '', part = '', methods = ''] = found;
    const depth = indent.length / 4;
    const path = (parents[depth - 1] ?? '') + part;
    parents[depth] = path;
    if (!path.startsWith(prefix)) continue;
    for (const method of methods.split(', '))
      if (method === 'GET' || method === 'POST') known.push({ method, path: path.slice(prefix.length) });
  }
  return known;
}
