import type { Sandbank } from '../sdk/client.ts';
import { operations } from '../sdk/generated/operations.ts';
import type { CallOptions, Operation } from '../sdk/operation.ts';

/** The server takes half a minute at most for an examination, and responds after it. */
export const examinationMsMax = 60_000;

type Method = (...args: unknown[]) => PromiseLike<unknown>;

/** Finds an operation by its operationId. */
export function operationOf(id: string): Operation {
  const found = operations.find(
    (operation) => operation.id === id && operation.accept === 'application/json',
  );
  if (found === undefined) throw new TypeError(`The client has no operation ${id}.`);
  return found;
}

/**
 * Calls an operation by its id, for programs that offer operations by name. `argument` is its body or its query; a list returns
 * its first page.
 */
export async function call<Answer = unknown>(
  sandbank: Sandbank,
  id: string,
  {
    names = [],
    argument,
    options = {},
  }: {
    readonly names?: readonly string[];
    readonly argument?: object | undefined;
    readonly options?: CallOptions;
  } = {},
): Promise<Answer> {
  const { namespace, method, takes } = operationOf(id);
  const owner =
    namespace === undefined ? sandbank : (sandbank as unknown as Record<string, object>)[namespace];
  const found = (owner as Record<string, Method>)[method];
  if (found === undefined) throw new TypeError(`The client has no method for ${id}.`);
  return (await found(...names, ...(takes === undefined ? [] : [argument ?? {}]), options)) as Answer;
}
