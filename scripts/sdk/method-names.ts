import { type ApiOperation, camel } from './document.ts';

/** The name of an operation in the client: `sandbank.<namespace>.<method>()`, or `sandbank.<method>()`. */
export interface MethodName {
  readonly namespace: string | undefined;
  readonly method: string;
}

/** The namespace of each collection, which is the path segment after `developer_api_`. */
const namespaces: Readonly<Record<string, string>> = {
  payments: 'payments',
  refunds: 'refunds',
  disputes: 'disputes',
  transfers: 'transfers',
  fx_rates: 'fxRates',
  customers: 'customers',
  webhooks: 'webhooks',
  webhook_events: 'events',
  webhook_deliveries: 'deliveries',
  webhook_replays: 'replays',
  clock: 'clock',
  settlements: 'settlements',
  reconciliation: 'reconciliation',
  fault_plans: 'faultPlans',
  requests: 'requests',
  audit_entries: 'audit',
  coverage: 'coverage',
};

/** Operations with another name than the rule gives. */
const exceptions: Readonly<Record<string, string>> = {
  'GET status': 'status',
  'GET capabilities': 'capabilities',
  'GET state_machines': 'stateMachines',
  'POST reset': 'reset',
  'POST webhook_inbox': 'webhooks.inbox',
  'GET balances': 'ledger.balances',
  'GET ledger_entries': 'ledger.entries',
};

/** Another content type of a response is a separate method. */
const variants: Readonly<Record<string, string>> = {
  'text/csv': 'csv',
  'application/xml': 'junit',
};

/**
 * The rule: the collection is the namespace. A name at the end of the path is the method (`/{id}/rotate_secret` is
 * `rotateSecret`). Without one, a POST is `create`, a GET of one record `retrieve`, and a GET of the collection `list` if its
 * operationId starts with `list`, else `retrieve`.
 */
export function methodNameOf(verb: string, path: string, { operationId }: ApiOperation): MethodName {
  const below = /^\/_api\/developer_api_(.+)$/.exec(path)?.[1];
  if (below === undefined)
    throw new Error(`${operationId}: the path ${path} does not start with /_api/developer_api_`);
  const exception = exceptions[`${verb} ${below}`];
  if (exception !== undefined) {
    const [first = '', second] = exception.split('.');
    return second === undefined
      ? { namespace: undefined, method: first }
      : { namespace: first, method: second };
  }
  const [collection = '', ...rest] = below.split('/');
  const namespace = namespaces[collection];
  if (namespace === undefined)
    throw new Error(
      `${operationId} (${verb} ${path}): the SDK has no namespace for \`${collection}\`. Add it to \`namespaces\` or \`exceptions\` in scripts/sdk/method-names.ts.`,
    );
  const last = rest.at(-1);
  if (last !== undefined && !last.startsWith('{')) return { namespace, method: camel(last) };
  if (verb === 'POST' && rest.length === 0) return { namespace, method: 'create' };
  if (verb === 'GET' && rest.length === 0)
    return { namespace, method: operationId.startsWith('list') ? 'list' : 'retrieve' };
  if (verb === 'GET' && rest.length === 1) return { namespace, method: 'retrieve' };
  throw new Error(
    `${operationId} (${verb} ${path}): the rule gives it no method. Add it to \`exceptions\` in scripts/sdk/method-names.ts.`,
  );
}

export function variantOf(contentType: string, operationId: string): string {
  const variant = variants[contentType];
  if (variant === undefined)
    throw new Error(
      `${operationId} answers with ${contentType}, which has no method name. Add it to \`variants\` in scripts/sdk/method-names.ts.`,
    );
  return variant;
}
