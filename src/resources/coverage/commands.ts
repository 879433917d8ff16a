import type { AnyResource, PreparedCommand } from '../../kernel/command.ts';
import { apiErrorCodes, errorCatalogue } from '../../kernel/errors.ts';
import type { EventType } from '../../kernel/event.ts';
import { lifecycleMoves, type Move } from '../../kernel/machine.ts';
import type { Route } from '../../kernel/route.ts';
import type { CoverageKind } from './table.ts';

/** An item that a test can cover. */
interface CoverageItem {
  readonly kind: CoverageKind;
  readonly name: string;
  /** The resource of the item; null for items without one, such as all errors. */
  readonly resource: string | null;
}

/** All items that can be covered, each once, grouped by kind. */
export type Universe = readonly CoverageItem[];

/**
 * Derived from the tables that the server runs on: a new state, event, route or code is included automatically. Errors that
 * occur before the server knows the organization of a request cannot be covered and are left out.
 */
export function universeOf(
  resources: readonly AnyResource[],
  catalogue: readonly EventType[],
  routes: readonly Route[],
): Universe {
  const emitting = resources.filter(({ emitsEvents }) => emitsEvents);
  const resourceOf = (path: string) => emitting.find(({ name }) => path.startsWith(`developer_api_${name}`));
  return [
    ...emitting.flatMap(({ name, machine }) =>
      machine.states.map((state) => item('state', stateName(name, state), name)),
    ),
    ...emitting.flatMap(({ name, machine }) =>
      [...new Set(lifecycleMoves(machine).flatMap((move) => moveNames(name, move)))].map((move) =>
        item('move', move, name),
      ),
    ),
    ...catalogue.map(({ type, resource }) => item('event', type, resource)),
    ...routes.map(({ operationId, path }) => item('operation', operationId, resourceOf(path)?.name ?? null)),
    ...apiErrorCodes
      .filter((code) => !errorCatalogue[code].isUnauthenticated)
      .map((code) => item('error', code, null)),
  ];
}

function item(kind: CoverageKind, name: string, resource: string | null): CoverageItem {
  return { kind, name, resource };
}

export function stateName(resource: string, state: string): string {
  return `${resource}.${state}`;
}

/** `payment.capture: authorized -> captured`, and `payment.create: -> pending` for a new record. */
export function moveName(resource: string, action: string, from: string | null, to: string): string {
  return from === null ? `${resource}.${action}: -> ${to}` : `${resource}.${action}: ${from} -> ${to}`;
}

function moveNames(
  resource: string,
  { action, from, to, stays, isTraceless }: Move<never>,
): readonly string[] {
  if (isTraceless) return [];
  if (from.length === 0) return to.map((end) => moveName(resource, action, null, end));
  return from.flatMap((start) => (stays ? [start] : to).map((end) => moveName(resource, action, start, end)));
}

/** Resets the counts. Its prepare step flushes the counts of this node. */
export const resetCoverage: PreparedCommand<null> = {
  name: 'coverage.reset',
  success: 'ok',
  needsPrepare: true,
  reads: () => [],
  decide: (_input, { orgId }) => ({
    ok: true,
    changes: [],
    forgetsCoverage: true,
    answer: {
      resource: 'organization',
      row: { orgId, id: orgId },
      shown: { object: 'coverage_reset', sandbox: true, status: 'ok' },
    },
  }),
};
