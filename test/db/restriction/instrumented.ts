import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createServer, type Plugin, parseSync, type ViteDevServer } from 'vite';

/** A place in the source that creates a statement: an object literal with `name` and `text`. */
export interface Site {
  /** `engine/clearing.ts:13`. */
  readonly place: string;
  readonly statements: { readonly name: string; readonly text: string }[];
}

export interface InstrumentedSource {
  readonly sites: ReadonlyMap<string, Site>;
  /** The text of every statement that a connection received. */
  readonly executed: Set<string>;
  /** Loads a module with the instrumented server: the tests' own helpers, too. */
  load<Module>(file: string): Promise<Module>;
  close(): Promise<void>;
}

/** Entry points that start something when they are imported. */
const entryPoints = ['main.ts', 'boot.ts', 'start/start.ts', 'db/pglite-worker.ts'];

const root = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Loads all modules of the server a second time, with a hook around each object literal that is a statement. Statements that a module
 * creates when it is imported are complete then; those that a function creates are recorded when something calls it.
 */
export async function openInstrumentedSource(): Promise<InstrumentedSource> {
  const sites = new Map<string, Site>();
  const record = (place: string, statement: Site['statements'][number]) => {
    sites.get(place)?.statements.push(statement);
    return statement;
  };
  const executed = new Set<string>();
  const execute = (config: { readonly text: string }) => {
    executed.add(config.text);
    return config;
  };
  Object.assign(globalThis, { recordStatement: record, recordExecution: execute });
  const vite: ViteDevServer = await createServer({
    ...{ root, configFile: false, appType: 'custom', logLevel: 'error' },
    plugins: [instrument(sites)],
    optimizeDeps: { noDiscovery: true, include: [] },
    server: { middlewareMode: true, watch: null, hmr: false, ws: false },
  });
  const load = <Module>(file: string) => vite.ssrLoadModule(file) as Promise<Module>;
  const files = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !entryPoints.includes(file));
  for (const file of files) await load(`/src/${file}`);
  return { sites, executed, load, close: () => vite.close() };
}

function instrument(sites: Map<string, Site>): Plugin {
  return {
    name: 'statement-sites',
    enforce: 'pre',
    transform(code, id) {
      const [, file] = /\/src\/(.*\.ts)$/.exec(id) ?? [];
      if (file === undefined) return undefined;
      let instrumented = code;
      // From the end, so that earlier positions stay valid.
      for (const { start, end } of statementsIn(parseSync(id, code).program).toReversed()) {
        const place = `${file}:${code.slice(0, start).split('\n').length}`;
        sites.set(place, { place, statements: [] });
        const literal = instrumented.slice(start, end);
        instrumented = `${instrumented.slice(0, start)}globalThis.recordStatement('${place}', (${literal}))${instrumented.slice(end)}`;
      }
      if (file === 'db/pool-client.ts') instrumented = withExecutions(instrumented);
      return instrumented === code ? undefined : { code: instrumented, map: null };
    },
  };
}

/** Every statement of the server passes this call. */
function withExecutions(code: string): string {
  const call = 'this.query({ ...config, ...limit })';
  if (code.split(call).length !== 2) throw new Error(`db/pool-client.ts must contain ${call} once`);
  return code.replace(call, 'this.query(globalThis.recordExecution({ ...config, ...limit }))');
}

interface Range {
  readonly start: number;
  readonly end: number;
}

interface SyntaxNode extends Range {
  readonly type: string;
  readonly properties?: readonly { readonly key?: { readonly name?: string } }[];
}

function statementsIn(tree: unknown): Range[] {
  const found: Range[] = [];
  const walk = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return;
    const { type, start, end, properties = [] } = node as SyntaxNode;
    if (type === 'ObjectExpression') {
      const keys = properties.map(({ key }) => key?.name);
      if (keys.includes('name') && keys.includes('text')) found.push({ start, end });
    }
    for (const value of Object.values(node)) walk(value);
  };
  walk(tree);
  return found.sort((a, b) => a.start - b.start);
}
