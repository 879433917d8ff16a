import { Type } from 'typebox';
import type { AnyResource } from '../../kernel/command.ts';
import type { EventType } from '../../kernel/event-type.ts';
import { eventTypes } from '../../kernel/machine.ts';

/** Every kind of event, from the machines that bring them about. */
export function catalogueOf(resources: readonly AnyResource[]): readonly EventType[] {
  return resources
    .filter(({ emitsEvents }) => emitsEvents)
    .flatMap(({ name, machine }) =>
      eventTypes(machine).map((type) => ({
        type,
        resource: name,
        description: type,
        example: { object: name, sandbox: true, status: 'ok' } as const,
        schema: Type.Object({}),
      })),
    );
}
