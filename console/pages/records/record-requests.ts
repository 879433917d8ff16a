import { postRequest, readRequest } from '../../client/request.ts';
import type { NamedRequest } from '../../code/requests-dialog.tsx';
import { sentenceCase } from '../../parts/text.ts';
import type { Resource } from './action-draft.ts';

export interface StatefulRequests {
  readonly resource: Resource;
  readonly id: string;
  /** Whether an action can be taken at all, so that there is a next step. */
  readonly canAdvance: boolean;
  /** Allowed actions without a form: those with one show their code in it. */
  readonly actions: readonly string[];
}

export const nextStepLabel = 'Advance: next step';

/** The requests about a record with states: its reads, its next step, and its actions. */
export function statefulRequests(record: StatefulRequests): readonly NamedRequest[] {
  const { resource, id, canAdvance, actions } = record;
  const path = `developer_api_${resource}s/${id}`;
  const advance = (label: string, body: unknown) => ({
    label,
    request: postRequest(`${path}/advance`, body),
  });
  return [
    { label: `Retrieve ${resource}`, request: readRequest(path) },
    ...(resource === 'payment' || resource === 'transfer'
      ? [
          { label: 'List history', request: readRequest(`${path}/history`) },
          { label: 'List ledger entries', request: readRequest(`${path}/ledger_entries`) },
          { label: 'List provider events', request: readRequest(`${path}/provider_events`) },
        ]
      : []),
    { label: 'List events', request: readRequest('developer_api_webhook_events', { resourceId: id }) },
    ...(canAdvance ? [advance(nextStepLabel, {})] : []),
    ...actions.map((action) => advance(`Advance: ${sentenceCase(action).toLowerCase()}`, { action })),
  ];
}

export function customerRequests(id: string, isActive: boolean): readonly NamedRequest[] {
  const path = `developer_api_customers/${id}`;
  return [
    { label: 'Retrieve customer', request: readRequest(path) },
    { label: 'List payments', request: readRequest('developer_api_payments', { customerId: id }) },
    { label: 'List events', request: readRequest('developer_api_webhook_events', { resourceId: id }) },
    ...(isActive ? [{ label: 'Archive customer', request: postRequest(`${path}/archive`, {}) }] : []),
  ];
}
