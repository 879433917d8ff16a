import { assert } from '../../kernel/assert.ts';
import type { AnyResource } from '../../kernel/command.ts';
import { type EventType, eventPayload } from '../../kernel/event.ts';
import { eventTypes } from '../../kernel/machine.ts';
import { runExamples } from './examples.ts';

/**
 * Every kind of event, from the machines that bring them about. It is made once, at the start, in about 20 ms; a type without
 * words, schema or example is a bug that keeps the server from starting.
 */
export function catalogueOf(resources: readonly AnyResource[]): readonly EventType[] {
  const telling = resources.filter(({ emitsEvents }) => emitsEvents);
  const played = runExamples((name, row) => {
    const resource = telling.find((one) => one.name === name);
    assert(resource, `a ${name} is played, and tells nothing`);
    return resource.present(row);
  });
  return telling.flatMap(({ name, machine, schema }) => {
    assert(schema, `a ${name} tells events without a schema`);
    return eventTypes(machine).map((type) => {
      const event = played.get(type);
      assert(event, `no play tells ${type}`);
      const description = machine.eventDescriptions?.[type.slice(name.length + 1)];
      assert(description, `${type} has no words`);
      const payload = JSON.parse(eventPayload(event)) as EventType['payload'];
      return { type, resource: name, description, example: payload.data, payload, schema };
    });
  });
}
