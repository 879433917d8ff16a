import { expect, test } from 'vitest';
import { scenarioDescription } from './scenario-groups.ts';

const scenarioDescriptions = {
  payment: { async: 'The provider needs time: the payment passes through `processing`.' },
  transfer: { approve: 'Everything succeeds.' },
};

test.each([
  ['payment', 'async', 'The provider needs time: the payment passes through processing.'],
  ['transfer', 'approve', 'Everything succeeds.'],
  ['transfer', 'async', undefined],
  ['payment', 'return:custom_code', undefined],
] as const)('the scenario of a %s %s is described as %j', (resource, scenario, text) => {
  expect(scenarioDescription(resource, scenario, { scenarioDescriptions })).toBe(text);
});
