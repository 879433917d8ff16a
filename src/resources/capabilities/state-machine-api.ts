import { Type } from 'typebox';
import type { AnyResource } from '../../kernel/command.ts';
import { emittedEvents, eventTypes, finalStates, lifecycleMoves } from '../../kernel/machine.ts';
import type { Route } from '../../kernel/route.ts';
import { nullable, resource } from '../../kernel/schema.ts';

/** The state machines as data: the tables that the server itself uses. */
export function stateMachinesRoute(resources: readonly AnyResource[]): Route {
  const machines = resources
    .filter(({ emitsEvents }) => emitsEvents)
    .map(({ name, machine }) => ({
      resource: name,
      states: machine.states,
      finalStates: finalStates(machine),
      goal: machine.goal ?? null,
      setbacks: machine.setbacks ?? [],
      events: eventTypes(machine),
      moves: lifecycleMoves(machine).map((move) => ({
        action: move.action,
        from: move.from,
        to: move.to,
        stays: move.stays ?? false,
        events: emittedEvents(move).map((event) => `${name}.${event}`),
        condition: move.when?.description ?? null,
        broughtBy: move.triggeredBy ?? null,
      })),
    }));
  const answer = { object: 'state_machines', sandbox: true, status: 'ok', machines } as const;
  return {
    operationId: 'getStateMachines',
    method: 'GET',
    path: 'developer_api_state_machines',
    scope: 'any',
    tag: 'Sandbox',
    summary: 'The lifecycles of all resources as data: states, moves, conditions and events',
    responseName: 'StateMachines',
    response: resource('state_machines', ['ok'], {
      machines: Type.Array(
        Type.Object({
          resource: Type.String(),
          states: Type.Array(Type.String()),
          finalStates: Type.Array(Type.String()),
          goal: nullable(
            Type.String({ description: 'The state of a record for which everything succeeded.' }),
          ),
          setbacks: Type.Array(Type.String(), {
            description: 'The states that are off the path to the goal, such as `failed`.',
          }),
          events: Type.Array(Type.String()),
          moves: Type.Array(
            Type.Object({
              action: Type.String(),
              from: Type.Array(Type.String(), { description: 'Empty for the move that creates the record.' }),
              to: Type.Array(Type.String()),
              stays: Type.Boolean({ description: 'The record stays in its state.' }),
              events: Type.Array(Type.String(), {
                description:
                  'One for each target state, or one for all of them; empty for a move without an event.',
              }),
              condition: nullable(
                Type.String({ description: 'The move is allowed only under this condition.' }),
              ),
              broughtBy: nullable(
                Type.String({
                  description: 'The kind of record that triggers the move; clients cannot request it.',
                }),
              ),
            }),
          ),
        }),
      ),
    }),
    read: () => answer,
  };
}
