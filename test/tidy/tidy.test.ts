import { expect, test } from 'vitest';
import { directions } from './directions.ts';
import { language } from './language.ts';
import { length, longFiles } from './length.ts';
import { names } from './names.ts';
import { purity } from './purity.ts';
import { slices } from './slices.ts';
import { print, type Rule } from './source.ts';
import { statuses } from './statuses.ts';
import { tenancy } from './tenancy.ts';
import { traces } from './traces.ts';
import { readTree } from './tree.ts';

// `npm run golden` generates the golden files: docs/openapi.json, docs/errors.md, docs/states.md, docs/events.md, docs/scenarios.md,
// migrations/schema.golden.txt, schemas/, sdk/generated/, console/generated/. test/golden.test.ts checks that they are up to date.

const rules: readonly Rule[] = [
  directions,
  slices,
  names,
  purity,
  statuses,
  length,
  tenancy,
  traces,
  language,
];

test('the tree obeys every rule', () => {
  const tree = readTree();
  expect(tree.length).toBeGreaterThan(20);
  for (const warning of longFiles(tree)) console.warn(`long file: ${warning}`);
  const violations = rules.flatMap((rule) => rule(tree)).map(print);
  if (violations.length > 0) expect.fail(`${violations.length} violations:\n${violations.sort().join('\n')}`);
});
