import type { Delivery } from '../../generated/shapes.ts';

const triggerLabels: Readonly<Record<Delivery['trigger'], string>> = {
  event: 'Event',
  replay: 'Replay',
  test: 'Test',
};

export function triggerLabel(trigger: Delivery['trigger']): string {
  return triggerLabels[trigger];
}

/** 'x-name: value', one header per line. */
export function headerText(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}
