import { below, pick, type Random } from './random.ts';

const values: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -0,
    1,
    -1,
    1.5,
    2 ** 31,
    2 ** 53,
    -(2 ** 53),
    1e300,
    '',
    ' ',
    '0',
    'a',
    '\u0000',
    '\ud800',
    '__proto__',
  ],
  ...[
    '2030-01-01T00:00:00Z',
    '2030-02-30T00:00:00Z',
    'a'.repeat(300),
    '\u{1f600}'.repeat(60),
    [],
    {},
    [null],
    { a: {} },
  ],
];

/** Changes one place of a JSON value: replaces, removes, copies, renames or wraps it, or edits a text. The argument stays unchanged. */
export function mutateJson(value: unknown, random: Random, tokens: readonly string[]): unknown {
  const copy = { root: structuredClone(value) };
  const places = placesOf(copy);
  const { holder, key } = pick(random, places);
  const here = holder[key];
  const other = pick(random, places);
  switch (below(random, 6)) {
    case 0:
      holder[key] = structuredClone(pick(random, values));
      break;
    case 1:
      if (holder !== (copy as Holder))
        Array.isArray(holder) ? holder.splice(Number(key), 1) : delete holder[key];
      break;
    case 2:
      holder[key] = structuredClone(other.holder[other.key]);
      break;
    case 3:
      if (Array.isArray(holder)) holder.push(structuredClone(here));
      else if (holder !== (copy as Holder)) holder[random() < 0.5 ? pick(random, tokens) : `${key}x`] = here;
      break;
    case 4:
      holder[key] = random() < 0.5 ? [here] : pick(random, tokens);
      break;
    default:
      holder[key] = typeof here === 'string' ? edited(here, random, tokens) : String(here);
  }
  return copy.root;
}

type Holder = Record<string, unknown>;

function placesOf(holder: object): { readonly holder: Holder; readonly key: string }[] {
  return Object.entries(holder).flatMap(([key, value]) => [
    { holder: holder as Holder, key },
    ...(typeof value === 'object' && value !== null ? placesOf(value) : []),
  ]);
}

function edited(text: string, random: Random, tokens: readonly string[]): string {
  const at = below(random, text.length + 1);
  return text.slice(0, at) + pick(random, tokens) + text.slice(random() < 0.5 ? at : at + 1);
}
