import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

/** WCAG 2.2 AA: success criteria 1.4.3 (text) and 1.4.11 (controls, focus indicators and graphics). */
const textMin = 4.5;
const graphicMin = 3;

const folder = new URL('./', import.meta.url);
const css = readFileSync(new URL('style.css', folder), 'utf8');

type Rgb = readonly [red: number, green: number, blue: number];
type Theme = 'light' | 'dark';

function readColor(hex: string): Rgb {
  if (!/^#[0-9a-f]{6}$/.test(hex)) throw new Error(`not a six-digit hex color: ${hex}`);
  const channel = (at: number) => Number.parseInt(hex.slice(at, at + 2), 16);
  return [channel(1), channel(3), channel(5)];
}

/** Every custom property of `:root` that holds a color, for both themes. */
const definitions = [...css.matchAll(/^ {2}--([\w-]+): light-dark\((.+)\);$/gm)].map(
  ([, name = '', both = '']) => {
    const [light = '', dark = ''] = both.split(/,\s*(?![^(]*\))/);
    return { name, light, dark };
  },
);
const opaque = definitions.filter(({ light }) => light.startsWith('#'));
const colors = new Map(
  opaque.map(({ name, light, dark }) => [name, { light: readColor(light), dark: readColor(dark) }]),
);
colors.set('white', { light: [255, 255, 255], dark: [255, 255, 255] });

function colorOf(name: string, theme: Theme): Rgb {
  const color = colors.get(name);
  if (color === undefined) throw new Error(`style.css does not define --${name}`);
  return color[theme];
}

/** Relative luminance as WCAG defines it. */
function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((channel) => {
    const value = channel / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: Rgb, b: Rgb): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** Page, cards, dialogs and menus, code and sidebar, and the row under the pointer. */
const surfaces = ['ground', 'surface', 'raised', 'sunken', 'hover'];

/** Text colors, each with the backgrounds on which components put it. Icons beside text have the same pairs. */
const text: Readonly<Record<string, readonly string[]>> = {
  // The soft colors behind `ink` are selections (::selection, radio-cards.tsx) and chart cursors.
  ink: [...surfaces, 'accent-soft', 'quiet-soft'],
  muted: [...surfaces, 'accent-soft', 'quiet-soft'],
  // Also placeholders, and disabled controls, which WCAG exempts.
  faint: [...surfaces, 'accent-soft'],
  accent: [...surfaces, 'accent-soft'],
  good: [...surfaces, 'good-soft'],
  bad: [...surfaces, 'bad-soft'],
  warn: [...surfaces, 'warn-soft'],
  note: ['note-soft'],
  'on-accent': ['accent', 'accent-hover'],
  white: ['bad-solid'],
  // Tooltips are inverted.
  ground: ['ink'],
};

/** Borders and shapes that carry information, each with the backgrounds next to it. */
const graphics: Readonly<Record<string, readonly string[]>> = {
  // The focus ring of every control, checked controls, progress bars, and the current state in the diagram.
  accent: [...surfaces, 'accent-soft', 'quiet-soft'],
  // The borders of inputs, checkboxes and switches, and chart series.
  'line-strong': surfaces,
  // The border of an input under the pointer, and the thumb of a switch that is off.
  muted: ['surface', 'raised', 'sunken'],
  // The thumb of a switch that is on, and the check mark.
  'on-accent': ['accent'],
  // The border of an invalid input, chart series, and the dot of the live stream.
  bad: ['ground', 'surface', 'raised'],
  good: ['ground', 'surface', 'raised'],
  warn: ['ground', 'surface', 'raised'],
  note: ['surface', 'raised'],
  'bad-solid': ['raised', 'surface'],
  // The dots of applications, in the header and in its menu.
  ...Object.fromEntries(
    ['red', 'orange', 'olive', 'green', 'teal', 'blue', 'violet', 'pink'].map((name) => [
      `dot-${name}`,
      ['ground', 'raised', 'hover'],
    ]),
  ),
};

/**
 * Colors that carry no information: lines between rows and around cards, the layer behind a dialog, and the shadow at an edge,
 * where a scroll bar shows the same.
 */
const decorative = ['edge', 'line', 'shade'];

const rows = (pairs: Readonly<Record<string, readonly string[]>>) =>
  (['light', 'dark'] as const).flatMap((theme) =>
    Object.entries(pairs).flatMap(([name, behind]) => behind.map((other) => [theme, name, other] as const)),
  );

test('the contrast formula gives the reference values of WCAG', () => {
  expect(contrast([0, 0, 0], [255, 255, 255])).toBeCloseTo(21, 5);
  expect(contrast([255, 255, 255], [255, 255, 255])).toBe(1);
  expect(contrast(readColor('#767676'), [255, 255, 255])).toBeCloseTo(4.54, 2);
  expect(contrast(readColor('#777777'), [255, 255, 255])).toBeCloseTo(4.48, 2);
});

test.each(rows(text))('%s theme: the text color %s is readable on %s', (theme, name, behind) => {
  expect(contrast(colorOf(name, theme), colorOf(behind, theme))).toBeGreaterThanOrEqual(textMin);
});

test.each(rows(graphics))('%s theme: the graphic color %s is visible on %s', (theme, name, behind) => {
  expect(contrast(colorOf(name, theme), colorOf(behind, theme))).toBeGreaterThanOrEqual(graphicMin);
});

describe('the tables above are complete', () => {
  const classStrings = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.test.ts'))
    .flatMap((file) => {
      const source = readFileSync(new URL(file.replaceAll('\\', '/'), folder), 'utf8');
      return [...source.matchAll(/'([^'\n]*)'|"([^"\n]*)"|`([^`]*)`/g)].map(
        ([, single, double, template]) => single ?? double ?? template ?? '',
      );
    });

  /** The tokens that classes such as `text-muted` and `hover:bg-hover` name, without translucent ones. */
  function tokensIn(classNames: string, kind: 'text' | 'bg'): readonly string[] {
    return [...classNames.matchAll(new RegExp(`(?<![\\w-])${kind}-([a-z-]+)(?![\\w/-])`, 'g'))]
      .map(([, name = '']) => name)
      .filter((name) => colors.has(name));
  }

  test('style.css defines at least the known colors, each for both themes', () => {
    expect(definitions.length).toBeGreaterThanOrEqual(25);
    const defined = css.slice(css.indexOf(':root {'), css.indexOf('}')).match(/^ {2}--/gm) ?? [];
    expect(defined).toHaveLength(definitions.length);
  });

  test('every color is part of a pair or named as decorative', () => {
    const paired = new Set([text, graphics].flatMap((table) => Object.entries(table).flat(2)));
    const missing = definitions.map(({ name }) => name).filter((name) => !paired.has(name));
    expect(missing.toSorted()).toEqual(decorative);
  });

  test('every text color of a component is in the table', () => {
    const used = new Set(classStrings.flatMap((one) => tokensIn(one, 'text')));
    expect(used).toContain('muted');
    expect([...used].filter((name) => !(name in text))).toEqual([]);
  });

  test('every background of a component is in the table', () => {
    const listed = new Set([...Object.values(text), ...Object.values(graphics)].flat());
    const shapes = Object.keys(graphics);
    const used = new Set(classStrings.flatMap((one) => tokensIn(one, 'bg')));
    expect(used).toContain('surface');
    // The QR code is black on white in both themes.
    const known = [...listed, ...shapes, ...decorative, 'white'];
    const missing = [...used].filter((name) => !known.includes(name));
    expect(missing).toEqual([]);
  });

  test('every text color that a component puts on a soft background is in the table', () => {
    const pairs = classStrings.flatMap((one) => {
      const soft = tokensIn(one, 'bg').filter((name) => name.endsWith('-soft'));
      return tokensIn(one, 'text').flatMap((name) => soft.map((behind) => [name, behind] as const));
    });
    const strings = new Set(pairs.map((pair) => pair.join(' on ')));
    expect([...strings]).toEqual(
      expect.arrayContaining([
        'good on good-soft',
        'bad on bad-soft',
        'warn on warn-soft',
        'note on note-soft',
        'muted on quiet-soft',
      ]),
    );
    // Alternatives in one string, such as `bg-accent-soft text-accent`, never mix two soft colors.
    expect(pairs.filter(([name, behind]) => !text[name]?.includes(behind))).toEqual([]);
  });
});
