import { InvalidArgumentError } from 'commander';
import { nearest } from '../sdk/nearest.ts';
import { currencies } from './generated/values.ts';
import { wrongUsage } from './problem.ts';

/** A whole number within bounds. */
export function whole(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max))
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    return value;
  };
}

/** `a,b` and repeated flags both add to a list. */
export function list(text: string, before: readonly string[] | undefined): readonly string[] {
  const items = text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  if (items.length === 0) throw new InvalidArgumentError('It must name at least one.');
  return [...(before ?? []), ...items];
}

/** A reader of a closed set. Validation, suggestions and shell completion use the same `choices`. */
export interface Choices {
  readonly choices: readonly string[];
  /** Whether the value is a list with commas. */
  readonly isList: boolean;
}

export function choice(...choices: readonly string[]): ((text: string) => string) & Choices {
  const read = (text: string) => oneOf(choices, text);
  return Object.assign(read, { choices, isList: false });
}

/** Values that a set cannot enumerate. */
export interface Others {
  readonly pattern: RegExp;
  /** For messages, such as `the id of a record`. */
  readonly description: string;
}

/** As `choice`, of a set that is not closed. */
export function choiceOr(
  others: Others,
  ...choices: readonly string[]
): ((text: string) => string) & Choices {
  const read = (text: string) => oneOf(choices, text, others);
  return Object.assign(read, { choices, isList: false });
}

/** As `list`, of a closed set. */
export function listOf(
  choices: readonly string[],
  others?: Others,
): ((text: string, before: readonly string[] | undefined) => readonly string[]) & Choices {
  const read = (text: string, before: readonly string[] | undefined) => {
    const all = list(text, before);
    return all.map((item) => oneOf(choices, item, others));
  };
  return Object.assign(read, { choices, isList: true });
}

const readCurrency = choice(...currencies);

/** An ISO 4217 code, in upper or lower case. */
export const currency = Object.assign((text: string) => readCurrency(text.toUpperCase()), {
  choices: currencies,
  isList: false,
});

const listedMax = 60;

function oneOf(choices: readonly string[], text: string, others?: Others): string {
  if (choices.includes(text) || others?.pattern.test(text)) return text;
  const meant = nearest(text, choices);
  if (meant !== undefined) throw new InvalidArgumentError(`Did you mean ${meant}?`);
  const rest = choices.length - listedMax;
  const allowed = [
    ...choices.slice(0, listedMax),
    ...(rest > 0 ? [`${rest} more`] : []),
    ...(others ? [others.description] : []),
  ];
  throw new InvalidArgumentError(`Allowed values: ${allowed.join(', ')}.`);
}

/** `name=value`, collected. */
export function pairs(
  text: string,
  before: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must have the form name=value.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

const unitSeconds: Readonly<Record<string, number>> = { w: 604_800, d: 86_400, h: 3_600, m: 60, s: 1 };

/** `3d4h`, `90m`, `2w`: whole seconds. */
export function duration(text: string): number {
  const parts = [...text.matchAll(/(\d{1,9})([wdhms])/g)];
  const isWhole = parts.length > 0 && parts.map(([part]) => part).join('') === text;
  const seconds = parts.reduce(
    (sum, [, count = '', unit = '']) => sum + Number(count) * (unitSeconds[unit] ?? 0),
    0,
  );
  if (!isWhole || seconds < 1)
    throw new InvalidArgumentError('It must be a duration such as 3d4h, 90m or 45s (w, d, h, m, s).');
  return seconds;
}

/** An instant: RFC 3339, or a date. */
export function time(text: string): string {
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new InvalidArgumentError('It must be a time such as 2031-03-04T10:00:00Z.');
  return new Date(at).toISOString();
}

/** The start of a period: seconds before now, or an instant. The command decides by which clock. */
export type Since = { readonly seconds: number } | { readonly at: string };

export function since(text: string): Since {
  return /^[\dwdhms]*[wdhms]$/.test(text) ? { seconds: duration(text) } : { at: time(text) };
}

/** Parses a value as JSON, and takes it as text when it is not JSON. */
export function looseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The body of an advance: one action, the shortest path to a state, or the next step of the scenario. */
export function actionOrState(
  action: string | undefined,
  to: string | undefined,
): { readonly action?: string; readonly to?: string } {
  if (action !== undefined && to !== undefined) throw wrongUsage('Pass an action or --to, not both.');
  if (action !== undefined) return { action };
  return to === undefined ? {} : { to };
}
