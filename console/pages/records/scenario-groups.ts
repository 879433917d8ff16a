import type { Capabilities } from '../../generated/shapes.ts';

export type ScenarioResource = keyof Capabilities['scenarioDescriptions'];

/** A short description of a scenario as plain text; undefined if the server does not know it. */
export function scenarioDescription(
  resource: ScenarioResource,
  scenario: string,
  { scenarioDescriptions }: Pick<Capabilities, 'scenarioDescriptions'>,
): string | undefined {
  return scenarioDescriptions[resource][scenario]?.replaceAll('`', '');
}

/** The server's scenarios in groups, for the select. */
export function scenarioGroups(names: readonly string[]): readonly (readonly [string, readonly string[]])[] {
  const groups: readonly (readonly [string, (name: string) => boolean])[] = [
    ['Provider behavior', (name) => !name.includes(':') && !name.startsWith('settle_')],
    ['Declines', (name) => name.startsWith('decline:')],
    ['Returns', (name) => name.startsWith('return:')],
    ['Failures', (name) => name.startsWith('fail:')],
    ['Settlement report', (name) => name.startsWith('settle_')],
  ];
  return groups
    .map(([label, belongs]) => [label, names.filter(belongs)] as const)
    .filter(([, inside]) => inside.length > 0);
}
