import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CliProblem } from './problem.ts';

export interface Asked {
  readonly url?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** With which server the command speaks, and in whose name. */
export interface Settings {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly operatorToken: string | undefined;
  /** Where each was found, for `doctor` and for messages. Never the value of a secret. */
  readonly origins: { readonly url: Origin; readonly apiKey: Origin; readonly operatorToken: Origin };
  /** The note that a server has left, when there is one. */
  readonly noteFile: string | undefined;
}

export type Origin = 'flag' | 'environment' | 'note' | 'default' | 'nowhere';

export const urlDefault = 'http://127.0.0.1:4000';
const foldersUpMax = 64;

interface Note {
  readonly url?: string;
  readonly operatorToken?: string;
  readonly apiKey?: string;
}

/** Flags, then the environment, then what `sandbank start` has noted beside its data. */
export function readSettings(
  asked: Asked,
  env: Readonly<Record<string, string | undefined>>,
  directory: string,
): Settings {
  const found = findNote(env, directory);
  const url = first(asked.url, env.SANDBANK_URL, found?.note.url) ?? [urlDefault, 'default'];
  // The secrets in a note are for the server that has left it: no other is told them.
  const note = found !== undefined && isSame(url[0], found.note.url) ? found.note : {};
  const apiKey = first(asked.apiKey, env.SANDBANK_API_KEY || env.SANDBANK_KEY, note.apiKey);
  const operatorToken = first(undefined, env.SANDBANK_OPERATOR_TOKEN, note.operatorToken);
  return {
    url: url[0],
    apiKey: apiKey?.[0],
    operatorToken: operatorToken?.[0],
    origins: {
      url: url[1],
      apiKey: apiKey?.[1] ?? 'nowhere',
      operatorToken: operatorToken?.[1] ?? 'nowhere',
    },
    noteFile: found?.file,
  };
}

/** How to get an API key. In the folder of the server there is no point in naming that folder. */
export function keyAdvice({ url, noteFile, operatorToken }: Settings): string {
  if (operatorToken !== undefined)
    return 'Create a key with "sandbank keys create", and set SANDBANK_API_KEY.';
  const console = `Create a key in the console at ${url.replace(/\/+$/, '')}/console, and set SANDBANK_API_KEY.`;
  return noteFile === undefined
    ? `${console} In the folder where "sandbank start" runs, commands find the demo key by themselves.`
    : console;
}

function first(flag?: string, variable?: string, noted?: string): readonly [string, Origin] | undefined {
  if (flag) return [flag, 'flag'];
  if (variable) return [variable, 'environment'];
  if (noted) return [noted, 'note'];
  return undefined;
}

function isSame(url: string, noted: string | undefined): boolean {
  const plain = (text: string) => text.replace(/\/+$/, '').replace('://localhost', '://127.0.0.1');
  return noted !== undefined && plain(url) === plain(noted);
}

/** The file or data directory that is named, or the nearest `.sandbank` in this folder and those above it. */
function findNote(
  env: Readonly<Record<string, string | undefined>>,
  directory: string,
): { readonly file: string; readonly note: Note } | undefined {
  if (env.SANDBANK_CONNECTION_FILE) return readNote(resolve(directory, env.SANDBANK_CONNECTION_FILE));
  const named = env.SANDBANK_DATA_DIR || undefined;
  if (named === 'memory') return undefined;
  if (named !== undefined) return readNote(join(resolve(directory, named), 'cli.json'));
  let folder = resolve(directory);
  for (let up = 0; up < foldersUpMax; up += 1) {
    const found = readNote(join(folder, '.sandbank', 'cli.json'));
    if (found !== undefined || dirname(folder) === folder) return found;
    folder = dirname(folder);
  }
  return undefined;
}

function readNote(file: string): { readonly file: string; readonly note: Note } | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  try {
    return { file, note: JSON.parse(text) as Note };
  } catch {
    throw new CliProblem(
      `${file} is not JSON. It is written by "sandbank start"; delete it and start again.`,
    );
  }
}
