import { parseAmount } from '../../client/amount.ts';
import { type Row, recordOf } from '../records/rows.tsx';
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
