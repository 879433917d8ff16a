import { type CallOptions, callOptionNames, type Operation, type WriteOptions } from './operation.ts';
import { type Page, Pages } from './pages.ts';
import type { Outgoing, Query, Transport } from './transport.ts';

type Method = (...args: unknown[]) => unknown;

/** Creates the client methods from the table of operations. Their types are generated from the same document. */
export function bindOperations(
  operations: readonly Operation[],
  transport: Transport,
): Record<string, Method | Record<string, Method>> {
  const bound: Record<string, Method | Record<string, Method>> = {};
  for (const operation of operations) {
    // stream.ts implements streams.
    if (operation.gives === 'stream') continue;
    const { namespace, method } = operation;
    if (namespace === undefined) bound[method] = methodOf(operation, transport);
    else
      bound[namespace] = {
        ...(bound[namespace] as Record<string, Method>),
        [method]: methodOf(operation, transport),
      };
  }
  return bound;
}

function methodOf(operation: Operation, transport: Transport): Method {
  return (...args) => {
    if (operation.gives === 'page') {
      return new Pages(async (cursor) => {
        const { outgoing, options } = prepare(operation, args);
        const query = cursor === undefined ? outgoing.query : { ...outgoing.query, cursor };
        return transport.json<Page>({ ...outgoing, query }, options);
      });
    }
    return call(operation, args, transport);
  };
}

async function call(operation: Operation, args: readonly unknown[], transport: Transport): Promise<unknown> {
  const { outgoing, options } = prepare(operation, args);
  return operation.gives === 'text' ? transport.text(outgoing, options) : transport.json(outgoing, options);
}

function prepare(
  operation: Operation,
  args: readonly unknown[],
): { outgoing: Outgoing; options: CallOptions } {
  const { verb, accept, names, takes, optionsInQuery = [] } = operation;
  const path = pathOf(operation, args);
  const argument = takes === undefined ? undefined : args[names.length];
  const options = (args[names.length + (takes === undefined ? 0 : 1)] ?? {}) as WriteOptions & Query;
  if (verb === 'GET')
    return { outgoing: { verb, path, accept, query: argument as Query | undefined }, options };
  const more = Object.fromEntries(optionsInQuery.map((name) => [name, true] as const));
  return {
    outgoing: {
      verb,
      path,
      accept,
      query: Object.fromEntries(optionsInQuery.map((name) => [name, options[name]])),
      body: argument === undefined ? undefined : JSON.stringify(argument),
      // The same for all attempts, so that a retry is safe.
      idempotencyKey: options.idempotencyKey ?? crypto.randomUUID(),
      optionNames: { ...callOptionNames, idempotencyKey: true, ...more },
    },
    options,
  };
}

function pathOf({ names, namespace, method, path }: Operation, args: readonly unknown[]): string {
  return names.reduce((text, name, index) => {
    const value = args[index];
    // An empty segment, or one of dots, would address another route.
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value))
      throw new TypeError(
        `${[namespace, method].filter(Boolean).join('.')} needs the ${name} as a string, not ${JSON.stringify(value)}.`,
      );
    return text.replace(`{${name}}`, encodeURIComponent(value));
  }, path);
}
