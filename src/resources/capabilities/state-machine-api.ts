import { Type } from 'typebox';
import type { AnyResource } from '../../kernel/command.ts';
import { emittedEvents, eventTypes, finalStates } from '../../kernel/machine.ts';
import type { Route } from '../../kernel/route.ts';
import { nullable, resource } from '../../kernel/schema.ts';

/** The machines as data: the very tables that the server decides by. */
export function stateMachinesRoute(resources: readonly AnyResource[]): Route {
  const machines = resources
    .filter(({ emitsEvents }) => emitsEvents)
    .map(({ name, machine }) => ({
      resource: name,
      states: machine.states,
      finalStates: finalStates(machine),
      events: eventTypes(machine),
      moves: machine.moves.map((move) => ({
        action: move.action,
        from: move.from,
        to: move.to,
        stays: move.stays ?? false,
        events: emittedEvents(move).map((told) => `${name}.${told}`),
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
          events: Type.Array(Type.String()),
          moves: Type.Array(
            Type.Object({
              action: Type.String(),
              from: Type.Array(Type.String(), { description: 'Empty for the move that makes the record.' }),
              to: Type.Array(Type.String()),
              stays: Type.Boolean({ description: 'The record stays in the state that it is in.' }),
              events: Type.Array(Type.String(), {
                description:
                  'One for each place of arrival, or one for all; none for a move that nobody is told of.',
              }),
              condition: nullable(Type.String({ description: 'The move is open only when this is so.' })),
              broughtBy: nullable(
                Type.String({
                  description: 'The kind of record that brings the move along; nobody asks for it.',
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
