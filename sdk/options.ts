import { nearest } from './nearest.ts';

/** The names of all options of an interface. The compiler reports a name that is missing here. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

/** Rejects options that do not exist: a misspelled option would otherwise be ignored, and its default used. */
export function rejectUnknownOptions(owner: string, options: object, known: Readonly<Record<string, true>>) {
  for (const name of Object.keys(options))
    if (!Object.hasOwn(known, name)) reject(`${name} is not an option of ${owner}`, name, Object.keys(known));
}

/** Rejects a value that an option does not accept. */
export function rejectUnknownValue(name: string, value: string, known: readonly string[]) {
  if (!known.includes(value)) reject(`${JSON.stringify(value)} is not a value of ${name}`, value, known);
}

function reject(problem: string, unknownName: string, known: readonly string[]): never {
  const meant = nearest(unknownName, known);
  const advice = meant === undefined ? `Valid are ${known.join(', ')}.` : `Did you mean ${meant}?`;
  throw new TypeError(`${problem}. ${advice}`);
}
