/** 'partially_captured' -> 'Partially captured'; 'payment.captured' is unchanged, because developers search for it. */
export function sentenceCase(name: string): string {
  const text = name.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** 1, 'event' -> '1 event'; 2, 'event' -> '2 events'. */
export function pluralize(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
}

/** Joins class names and omits falsy ones. */
export function classes(...names: (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(' ');
}
