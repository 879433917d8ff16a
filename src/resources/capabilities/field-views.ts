import type { TSchema } from 'typebox';
import type { AnyResource } from '../../kernel/command.ts';
import { lifecycleMoves } from '../../kernel/machine.ts';
import type { ApiWriteRoute, Route } from '../../kernel/route.ts';

/** The names of the body fields, by action and by target state. */
export interface AcceptedFields {
  readonly actionFields: Readonly<Record<string, readonly string[]>>;
  readonly targetFields: Readonly<Record<string, readonly string[]>>;
}

type Properties = Readonly<Record<string, TSchema & { readonly const?: unknown; readonly enum?: unknown[] }>>;

/**
 * The fields that a request may send with each action of a resource, and with `to` for each state. They are read from the schemas
 * that validate the bodies. An action that no route requests is absent.
 */
export function acceptedFields(
  { name, machine }: Pick<AnyResource, 'name' | 'machine'>,
  routes: readonly Route[],
): AcceptedFields {
  const writes = routes.filter((route): route is ApiWriteRoute => route.method === 'POST');
  const own = writes.filter(({ target }) => target === name);
  const advances = own.filter(({ path }) => path.endsWith('/{id}/advance')).flatMap(variantsOf);
  const creations = writes.filter(({ target, response }) => target === null && objectOf(response) === name);
  const moves = lifecycleMoves(machine).filter(({ triggeredBy }) => triggeredBy === undefined);
  const bodiesOf = (action: string, isCreation: boolean): readonly Properties[] => [
    ...advances.filter((variant) => accepts(variant.action, action)),
    ...own.filter(({ path }) => path.endsWith(`/{id}/${action}`)).flatMap(variantsOf),
    ...(isCreation ? creations.flatMap(variantsOf) : []),
  ];
  const byAction = moves.map(({ action, from }) => [action, bodiesOf(action, from.length === 0)] as const);
  const byTarget = machine.states.map(
    (state) => [state, advances.filter((variant) => accepts(variant.to, state))] as const,
  );
  return { actionFields: fieldsOf(byAction), targetFields: fieldsOf(byTarget) };
}

/** `action` and `to` select the variant of the body, so they are not fields of it. */
const selectors: ReadonlySet<string> = new Set(['action', 'to']);

function fieldsOf(
  bodies: readonly (readonly [name: string, variants: readonly Properties[]])[],
): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    bodies
      .filter(([, variants]) => variants.length > 0)
      .map(([name, variants]) => {
        const fields = variants.flatMap((variant) => Object.keys(variant));
        return [name, [...new Set(fields)].filter((field) => !selectors.has(field))];
      }),
  );
}

/** The properties that all bodies share, and those of each alternative. A route without a body schema accepts an empty object. */
function variantsOf({ body }: ApiWriteRoute): readonly Properties[] {
  const { anyOf = [], properties = {} } = (body ?? {}) as {
    readonly anyOf?: readonly { readonly properties?: Properties }[];
    readonly properties?: Properties;
  };
  return [properties, ...anyOf.map((variant) => variant.properties ?? {})];
}

function accepts(schema: Properties[string] | undefined, value: string): boolean {
  return schema?.const === value || schema?.enum?.includes(value) === true;
}

function objectOf(response: TSchema): unknown {
  return (response as { readonly properties?: Properties }).properties?.object?.const;
}
