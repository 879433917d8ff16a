import { type ApiOperation, camel } from './document.ts';

/** Where an operation is found in the client: `sandbank.<namespace>.<method>()`, or `sandbank.<method>()`. */
export interface Place {
  readonly namespace: string | undefined;
  readonly method: string;
}

/** The namespace of each collection, which is the word behind `developer_api_` in its path. */
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

/** What the rule would place badly. */
const exceptions: Readonly<Record<string, string>> = {
  'GET status': 'status',
  'GET capabilities': 'capabilities',
  'GET state_machines': 'stateMachines',
  'POST reset': 'reset',
  'GET balances': 'ledger.balances',
  'GET ledger_entries': 'ledger.entries',
};

/** Another form of an answer is a method of its own, named by its content type. */
const forms: Readonly<Record<string, string>> = {
  'text/csv': 'csv',
  'application/xml': 'junit',
};

/**
 * The rule: the collection gives the namespace. A word at the end of the path is the method (`/{id}/rotate_secret` is
 * `rotateSecret`). Without one, a POST is `create`, a GET of one record `retrieve`, and a GET of the collection `list` if its
 * operationId begins so, else `retrieve`.
 */
export function placeOf(verb: string, path: string, { operationId }: ApiOperation): Place {
  const below = /^\/_api\/developer_api_(.+)$/.exec(path)?.[1];
  if (below === undefined)
    throw new Error(`${operationId}: the path ${path} does not begin with /_api/developer_api_`);
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
      `${operationId} (${verb} ${path}): no namespace of the SDK is named for \`${collection}\`. Say where it goes, in \`namespaces\` or \`exceptions\` of scripts/sdk/places.ts.`,
    );
  const last = rest.at(-1);
  if (last !== undefined && !last.startsWith('{')) return { namespace, method: camel(last) };
  if (verb === 'POST' && rest.length === 0) return { namespace, method: 'create' };
  if (verb === 'GET' && rest.length === 0)
    return { namespace, method: operationId.startsWith('list') ? 'list' : 'retrieve' };
  if (verb === 'GET' && rest.length === 1) return { namespace, method: 'retrieve' };
  throw new Error(
    `${operationId} (${verb} ${path}): the rule of scripts/sdk/places.ts gives it no method. Add it to \`exceptions\` there.`,
  );
}

export function formOf(contentType: string, operationId: string): string {
  const form = forms[contentType];
  if (form === undefined)
    throw new Error(
      `${operationId} answers with ${contentType}, and scripts/sdk/places.ts does not say in \`forms\` how that method is called.`,
    );
  return form;
}
