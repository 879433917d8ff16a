/** 'partially_captured' -> 'Partially captured'; 'payment.captured' is unchanged, because developers search for it. */
export function sentenceCase(name: string): string {
  const text = name.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** 1, 'event' -> '1 event'; 2, 'event' -> '2 events'. */
export function pluralize(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
}

/** 10 -> '10 seconds', 86_400 -> '24 hours', 604_800 -> '7 days'. */
export function durationText(seconds: number): string {
  if (seconds > 86_400 && seconds % 86_400 === 0) return pluralize(seconds / 86_400, 'day');
  if (seconds >= 3_600 && seconds % 3_600 === 0) return pluralize(seconds / 3_600, 'hour');
  if (seconds >= 60 && seconds % 60 === 0) return pluralize(seconds / 60, 'minute');
  return pluralize(seconds, 'second');
}

/** Joins class names and omits falsy ones. */
export function classes(...names: (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(' ');
}
