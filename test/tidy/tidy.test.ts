import { expect, test } from 'vitest';
import { directions } from './directions.ts';
import { length, longFiles } from './length.ts';
import { names } from './names.ts';
import { purity } from './purity.ts';
import { slices } from './slices.ts';
import { print, type Rule } from './source.ts';
import { statuses } from './statuses.ts';
import { tenancy } from './tenancy.ts';
import { traces } from './traces.ts';
import { readTree } from './tree.ts';

// Golden files, made by `npm run golden` and never by hand: docs/openapi.json, docs/errors.md,
// docs/states.md, docs/events.md, docs/scenarios.md, migrations/schema.golden.txt, schemas/, sdk/generated/. That they are fresh is tested
// in test/golden.test.ts.

const rules: readonly Rule[] = [directions, slices, names, purity, statuses, length, tenancy, traces];

test('the tree obeys every rule', () => {
  const tree = readTree();
  expect(tree.length).toBeGreaterThan(20);
  for (const words of longFiles(tree)) console.warn(`long file: ${words}`);
  const violations = rules.flatMap((rule) => rule(tree)).map(print);
  if (violations.length > 0) expect.fail(`${violations.length} violations:\n${violations.sort().join('\n')}`);
});
