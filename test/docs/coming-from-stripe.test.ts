// The page for Stripe users names many identifiers of Sandbank: each must exist.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { errorCatalogue } from '../../src/kernel/errors.ts';
import { paymentScenarios, testCards } from '../../src/kernel/scenario.ts';
import { eventCatalogue, resources } from '../../src/resources/index.ts';
import { docs } from './built.ts';

const page = readFileSync(new URL('coming-from-stripe.md', docs), 'utf8');
const commandPage = readFileSync(new URL('cli.md', docs), 'utf8');

/** The cells of each row of the table below a heading, without the header row. */
function tableBelow(heading: string): readonly (readonly string[])[] {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const lines = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('| '));
  const rows = lines.slice(1).map((line) => line.split('|').map((cell) => cell.trim()));
  expect(rows.length, heading).toBeGreaterThan(3);
  return rows;
}

/** The texts in backquotes. */
const codeIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
const sandbankColumn = (heading: string) => tableBelow(heading).flatMap(([, , cell]) => codeIn(cell));

test('the events are in the catalogue', () => {
  const types = eventCatalogue.map(({ type }) => type);
  expect(sandbankColumn('Events').filter((type) => !types.includes(type))).toEqual([]);
});

test('the statuses are states of a payment', () => {
  const states: readonly string[] = resources.find(({ name }) => name === 'payment')?.machine.states ?? [];
  expect(sandbankColumn('Statuses').filter((state) => !states.includes(state))).toEqual([]);
});

test('the error codes are in the catalogue, with their status', () => {
  for (const [, , cell = ''] of tableBelow('Errors')) {
    const [, code = '', status] = /`(\w+)` \((\d+)\)/.exec(cell) ?? [];
    expect(errorCatalogue, cell).toHaveProperty(`${code}.status`, Number(status));
  }
});

test('the test cards select the scenarios', () => {
  for (const [, card, cell] of tableBelow('Test cards')) {
    const [number = ''] = codeIn(card);
    const [scenario = ''] = codeIn(cell);
    expect(paymentScenarios).toContain(scenario);
    expect(testCards[number], number).toBe(scenario);
  }
});

test('the commands and their flags exist', () => {
  const sections = commandPage.split('\n### `').slice(1);
  const nameOf = (section: string) => /^sandbank(?: [a-z-]+)+/.exec(section)?.[0] ?? '';
  for (const command of sandbankColumn('CLI commands').filter((code) => code.startsWith('sandbank '))) {
    const section = sections.find((text) => `${command} `.startsWith(`${nameOf(text)} `));
    expect(section, command).toBeDefined();
    for (const [flag] of command.matchAll(/--[a-z-]+/g)) expect(section, command).toContain(`\`${flag}`);
  }
});
