import { editableAmount, parseAmount } from '../../client/amount.ts';
import type { Payment } from '../../generated/shapes.ts';
import { type Row, recordOf, rowsOf } from '../records/rows.tsx';
import { scenarioOf } from '../records/scenario-field.tsx';

export interface Draft {
  readonly amount: string;
  readonly currency: string;
  readonly captureMethod: string;
  readonly method: string;
  readonly steps: readonly string[];
  readonly isAutomatic: boolean;
  readonly customerId: string;
  readonly description: string;
  readonly reference: string;
  readonly metadata: readonly Row[];
}

export const emptyDraft = (customerId: string): Draft => ({
  amount: '',
  currency: 'EUR',
  captureMethod: 'automatic',
  method: 'card',
  steps: ['approve'],
  isAutomatic: false,
  customerId,
  description: '',
  reference: '',
  metadata: [],
});

/** A new payment like an existing one. Its own id, such as an order number, belongs to one payment and is not copied. */
export const draftLike = (payment: Payment): Draft => ({
  amount: editableAmount(payment.amount, payment.currency),
  currency: payment.currency,
  captureMethod: payment.captureMethod,
  method: payment.paymentMethod.type,
  steps: typeof payment.scenario === 'string' ? [payment.scenario] : payment.scenario,
  isAutomatic: payment.autoAdvance,
  customerId: payment.customerId ?? '',
  description: payment.description ?? '',
  reference: '',
  metadata: rowsOf(payment.metadata),
});

/** The changed fields of an existing payment; undefined if nothing has changed. */
export function updateOf(payment: Payment, description: string, rows: readonly Row[]) {
  const text = description.trim();
  const metadata = recordOf(rows) ?? {};
  const body = {
    ...(text === (payment.description ?? '') ? {} : { description: text === '' ? null : text }),
    ...(JSON.stringify(metadata) === JSON.stringify(payment.metadata) ? {} : { metadata }),
  };
  return Object.keys(body).length === 0 ? undefined : body;
}

/** The body of POST developer_api_payments; undefined until there is an amount. */
export function bodyOf(draft: Draft) {
  const parsed = parseAmount(draft.amount, draft.currency);
  if ('problem' in parsed || parsed.minor === 0) return undefined;
  const metadata = recordOf(draft.metadata);
  const text = (name: 'customerId' | 'description' | 'reference') =>
    draft[name].trim() === '' ? {} : { [name]: draft[name].trim() };
  return {
    amount: parsed.minor,
    currency: draft.currency,
    captureMethod: draft.captureMethod,
    paymentMethod: { type: draft.method },
    scenario: scenarioOf(draft.steps),
    autoAdvance: draft.isAutomatic,
    ...text('customerId'),
    ...text('description'),
    ...text('reference'),
    ...(metadata === undefined ? {} : { metadata }),
  };
}
