import { expect, test } from 'vitest';
import { isRunByNpm } from './npm-parent.ts';

test.each([
  ['node scripts/sandbank.mjs start', true],
  ['sandbank start', true],
  ['sandbank start && npm test', true],
  ['sandbank "start" "--port" "4100"', true],
  ['sandbank start & npm test', false],
  ['npm test & sandbank start', false],
  ['vitest run', false],
  [undefined, false],
])('the script %s ends the server with npm: %s', (script, isRun) => {
  expect(isRunByNpm({ npm_lifecycle_script: script })).toBe(isRun);
});
