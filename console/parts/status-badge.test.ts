import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { toneOf } from './status-badge.tsx';
import { classes, pluralize, sentenceCase } from './text.ts';

test.each([
  ['captured', 'good'],
  ['failed', 'bad'],
  ['disputed', 'warn'],
  ['processing', 'note'],
  ['canceled', 'quiet'],
  ['a_state_of_a_newer_server', 'quiet'],
])('%s has the tone %s', (status, tone) => {
  expect(toneOf(status)).toBe(tone);
});

test('failure and success never share a tone, in any machine', () => {
  const document = readFileSync(new URL('../../docs/states.md', import.meta.url), 'utf8');
  const states = new Set([...document.matchAll(/^ {2}\w+ --> (\w+):/gm)].map(([, state = '']) => state));
  expect(states).toContain('charged_back');
  const tones = (names: readonly string[]) => [
    ...new Set(names.filter((name) => states.has(name)).map(toneOf)),
  ];
  expect(tones(['failed', 'charged_back', 'returned', 'lost', 'disabled'])).toEqual(['bad']);
  expect(tones(['captured', 'settled', 'completed', 'succeeded', 'won', 'active', 'enabled'])).toEqual([
    'good',
  ]);
});

test.each([
  ['partially_captured', 'Partially captured'],
  ['open', 'Open'],
  ['', ''],
])('%j is written as %j', (name, text) => {
  expect(sentenceCase(name)).toBe(text);
});

test.each([
  [0, '0 events'],
  [1, '1 event'],
  [2, '2 events'],
  [1234, '1,234 events'],
])('%i is counted as %s', (number, text) => {
  expect(pluralize(number, 'event')).toBe(text);
});

test('an irregular plural is used as given', () => {
  expect(pluralize(2, 'delivery', 'deliveries')).toBe('2 deliveries');
});

test('classes omits falsy names', () => {
  expect(classes('a', false, null, undefined, '', 'b')).toBe('a b');
});
