import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CliProblem } from './problem.ts';

export interface ConnectionFlags {
  readonly url?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** The server address and the credentials of a command. */
export interface Settings {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly operatorToken: string | undefined;
  /** The source of each setting, for `doctor` and for messages. */
  readonly origins: { readonly url: Origin; readonly apiKey: Origin; readonly operatorToken: Origin };
  /** The connection file of a running server, if there is one. */
  readonly connectionFile: string | undefined;
}

type Origin = 'flag' | 'environment' | 'connection file' | 'default' | 'none';

const urlDefault = 'http://127.0.0.1:4000';
const foldersUpMax = 64;

interface ConnectionFile {
  readonly url?: string;
  readonly operatorToken?: string;
  readonly apiKey?: string;
}

/** Flags override the environment, which overrides the connection file of `sandbank start`. */
export function readSettings(
  flags: ConnectionFlags,
  env: Readonly<Record<string, string | undefined>>,
  directory: string,
): Settings {
  const found = findConnectionFile(env, directory);
  const url = first(flags.url, env.SANDBANK_URL, found?.content.url) ?? [urlDefault, 'default'];
  // The secrets in a connection file are used only for the server that wrote it.
  const stored = found !== undefined && isSame(url[0], found.content.url) ? found.content : {};
  const apiKey = first(flags.apiKey, env.SANDBANK_API_KEY || env.SANDBANK_KEY, stored.apiKey);
  const operatorToken = first(undefined, env.SANDBANK_OPERATOR_TOKEN, stored.operatorToken);
  return {
    url: url[0],
    apiKey: apiKey?.[0],
    operatorToken: operatorToken?.[0],
    origins: {
      url: url[1],
      apiKey: apiKey?.[1] ?? 'none',
      operatorToken: operatorToken?.[1] ?? 'none',
    },
    connectionFile: found?.file,
  };
}

/** How to get an API key. In the server's folder the hint about that folder is omitted. */
export function keyAdvice({ url, connectionFile, operatorToken }: Settings): string {
  if (operatorToken !== undefined)
    return 'Create a key with "sandbank keys create", and set SANDBANK_API_KEY.';
  const console = `Create a key in the console at ${url.replace(/\/+$/, '')}/console, and set SANDBANK_API_KEY.`;
  return connectionFile === undefined
    ? `${console} In the folder where "sandbank start" runs, commands find the demo key by themselves.`
    : console;
}

function first(flag?: string, variable?: string, stored?: string): readonly [string, Origin] | undefined {
  if (flag) return [flag, 'flag'];
  if (variable) return [variable, 'environment'];
  if (stored) return [stored, 'connection file'];
  return undefined;
}

function isSame(url: string, stored: string | undefined): boolean {
  const plain = (text: string) => text.replace(/\/+$/, '').replace('://localhost', '://127.0.0.1');
  return stored !== undefined && plain(url) === plain(stored);
}

/** The configured file or data directory, or the nearest `.sandbank` in this folder or its parents. */
function findConnectionFile(
  env: Readonly<Record<string, string | undefined>>,
  directory: string,
): { readonly file: string; readonly content: ConnectionFile } | undefined {
  if (env.SANDBANK_CONNECTION_FILE)
    return readConnectionFile(resolve(directory, env.SANDBANK_CONNECTION_FILE));
  const named = env.SANDBANK_DATA_DIR || undefined;
  if (named === 'memory') return undefined;
  if (named !== undefined) return readConnectionFile(join(resolve(directory, named), 'cli.json'));
  let folder = resolve(directory);
  for (let up = 0; up < foldersUpMax; up += 1) {
    const found = readConnectionFile(join(folder, '.sandbank', 'cli.json'));
    if (found !== undefined || dirname(folder) === folder) return found;
    folder = dirname(folder);
  }
  return undefined;
}

function readConnectionFile(
  file: string,
): { readonly file: string; readonly content: ConnectionFile } | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  try {
    return { file, content: JSON.parse(text) as ConnectionFile };
  } catch {
    throw new CliProblem(
      `${file} is not JSON. It is written by "sandbank start"; delete it and start again.`,
    );
  }
}
