import type { Command } from 'commander';
import { declare } from '../declare.ts';
import { fieldValues } from '../generated/values.ts';
import { table } from '../layout.ts';
import { choice } from '../reading.ts';

export function addStateMachines(program: Command): void {
  declare(program, 'state-machines [resource]', {
    summary: 'Show the lifecycles: actions, states and the events they emit',
    arguments: { resource: choice(...fieldValues.listWebhookEvents.resource) },
    examples: [['state-machines payment'], ["state-machines --json | jq '.machines[].resource'"]],
    run: async (session, _options, resource) => {
      const all = await (await session.sandbank()).stateMachines();
      const machines = all.machines.filter((one) => resource === undefined || one.resource === resource);
      const rows = machines.flatMap(({ resource, moves }) =>
        moves.map(({ action, from, to, events, condition }) => [
          resource,
          action,
          from.join(', ') || '(new)',
          to.join(', '),
          events.join(', '),
          condition ?? '',
        ]),
      );
      session.out.show({ ...all, machines }, () =>
        table(['RESOURCE', 'ACTION', 'FROM', 'TO', 'EVENTS', 'CONDITION'], rows),
      );
      return undefined;
    },
  });
}
