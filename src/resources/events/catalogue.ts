import { assert } from '../../kernel/assert.ts';
import type { AnyResource } from '../../kernel/command.ts';
import { type EventType, eventPayload } from '../../kernel/event.ts';
import { eventTypes } from '../../kernel/machine.ts';
import { runExamples } from './examples.ts';

/**
 * Every event type, derived from the state machines. It is built once, at startup, in about 20 ms. A type without a
 * description, schema or example is a bug that keeps the server from starting.
 */
export function catalogueOf(resources: readonly AnyResource[]): readonly EventType[] {
  const emitting = resources.filter(({ emitsEvents }) => emitsEvents);
  const examples = runExamples((name, row) => {
    const resource = emitting.find((one) => one.name === name);
    assert(resource, `an example emits an event of ${name}, which has no events`);
    return resource.present(row);
  });
  return emitting.flatMap(({ name, machine, schema }) => {
    assert(schema, `the events of ${name} have no schema`);
    return eventTypes(machine).map((type) => {
      const event = examples.get(type);
      assert(event, `no example emits ${type}; add one to src/resources/events/examples.ts`);
      const description = machine.eventDescriptions?.[type.slice(name.length + 1)];
      assert(description, `${type} has no description`);
      const payload = JSON.parse(eventPayload(event)) as EventType['payload'];
      return { type, resource: name, description, example: payload.data, payload, schema };
    });
  });
}
