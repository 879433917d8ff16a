import { classes } from '../parts/text.ts';

const colors = [
  'bg-dot-red',
  'bg-dot-orange',
  'bg-dot-olive',
  'bg-dot-green',
  'bg-dot-teal',
  'bg-dot-blue',
  'bg-dot-violet',
  'bg-dot-pink',
] as const;

/** Helps to recognize an application beside its name; the colour follows from the id. */
export function ApplicationDot({ id, className = '' }: { readonly id: string; readonly className?: string }) {
  return <span aria-hidden className={classes('size-2.5 shrink-0 rounded-full', colorOf(id), className)} />;
}

/** All characters count: ids that were created at the same time differ only in the last ones. */
function colorOf(id: string): string {
  let sum = 0;
  for (const character of id) sum = (sum * 31 + character.charCodeAt(0)) % 65_521;
  return colors[sum % colors.length] ?? colors[0];
}
