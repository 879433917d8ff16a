import { describe, expect, test } from 'vitest';
import { checkedFolders, language, languageIn } from './language.ts';
import { print, source } from './source.ts';

function check(text: string, path = 'src/kernel/money.ts'): string[] {
  return languageIn([source(path, text)], ['src/', 'sdk/', 'docs/', 'test/']).map(print);
}

describe('the language rule refuses', () => {
  test.each([
    ['// The receiver is told once.', 'told'],
    ["test('tells the client')", 'tells'],
    ['// whoever calls it', 'whoever'],
    ['// It starts anew.', 'anew'],
    ["const resolution = 'How to mend it'", 'mend'],
    ['// the ailing endpoint', 'ailing'],
    ['// failures are borne for a day', 'borne'],
    ['// B: trifles', 'trifles'],
    ['interface Wish {}', 'Wish'],
    ['const errandsOf = []', 'errands'],
    ['mint.rows()', 'mint'],
    ['class Mint {}', 'Mint'],
    ['type AdvanceJourney = 1', 'Journey'],
    ['const happenings = []', 'happenings'],
    ['interface Happening {}', 'Happening'],
    ['const routeWords = {}', 'Words'],
    ["log('three words')", 'words'],
    ['// The row lies in memory.', 'lies'],
    ['// The key stands twice.', 'stands'],
    ['const isKept = true', 'Kept'],
    ['// made by the server', 'made'],
    ['const ASKED = 1', 'ASKED'],
    ['const asked_at = 1', 'asked'],
    ['// It looks at the rows.', 'looks'],
    ["throw new Error('XYZ is no currency')", 'is no currency'],
    ['// a matter of its own', 'of its own'],
    ['// the next so many requests', 'so many'],
    ['// It goes on reading.', 'goes on'],
    ['// the payment comes to an end', 'comes to'],
  ])('%s', (text, found) => {
    const violations = check(`\n${text}\n`);
    expect(violations).toHaveLength(1);
    expect(violations[0]).toMatch(/^src\/kernel\/money\.ts:2 language: ".+": write .+ instead$/);
    expect(violations[0]).toContain(`"${found}"`);
  });

  test('a phrase that a comment wraps, named with its first line', () => {
    expect(check('/**\n * A currency is\n * no amount, and a matter of\n * its own.\n */')).toEqual([
      'src/kernel/money.ts:2 language: "is no amount": write is not a instead',
      'src/kernel/money.ts:3 language: "of its own": write its own, separate, dedicated instead',
    ]);
    expect(check('// It goes\n// on reading.')).toHaveLength(1);
  });

  test('every match of a line', () => {
    expect(check('// told, kept and made')).toHaveLength(3);
  });
});

describe('the language rule accepts', () => {
  test.each([
    '// There is no payment, and it is no longer open.',
    '// It is no more than 5 s.',
    'const password = [keywords, passwords]',
    '// It relies on replies and applies them; the amendment is tolder.',
    'minter(admin, intelligent, untellable)',
    '// The store looks up the row: a lookup.',
    'body.happened.length + limits.idempotencyKeptHours',
    'select stands_at, not_kept from clocks',
    '// The event was happening meanwhile.',
    '// the log goes on disk',
  ])('%s', (text) => {
    expect(check(text)).toEqual([]);
  });

  test.each(['sdk/generated/shapes.ts', 'docs/errors.md', 'docs/openapi.json', 'test/tidy/language.test.ts'])(
    'anything in %s',
    (path) => {
      expect(check('// whoever is told', path)).toEqual([]);
    },
  );
});

test('an allowed text does not excuse the rest of its line', () => {
  expect(check('const made = body.happened')).toEqual([expect.stringContaining('"made"')]);
});

test('the tree test checks the listed folders only', () => {
  expect(checkedFolders).toContain('bench/');
  expect(
    language([source('bench/bench.ts', '// told'), source('elsewhere/bench.ts', '// told')]),
  ).toHaveLength(1);
});
