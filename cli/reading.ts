import { InvalidArgumentError } from 'commander';
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

export function choice(...choices: readonly string[]): (text: string) => string {
  return (text) => {
    if (choices.includes(text)) return text;
    throw new InvalidArgumentError(`It must be one of ${choices.join(', ')}.`);
  };
}

/** `name=value`, collected. */
export function pairs(
  text: string,
  before: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must look like name=value.');
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

/** How far back: so many seconds before now, or an instant. Which clock says what now is, the command knows. */
export type Since = { readonly seconds: number } | { readonly at: string };

export function since(text: string): Since {
  return /^[\dwdhms]*[wdhms]$/.test(text) ? { seconds: duration(text) } : { at: time(text) };
}

/** What stands in a value: JSON where it is JSON, else text. */
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
  if (action !== undefined && to !== undefined) throw wrongUsage('Give an action or --to, not both.');
  if (action !== undefined) return { action };
  return to === undefined ? {} : { to };
}
