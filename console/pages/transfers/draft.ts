import { parseAmount } from '../../client/amount.ts';
import { type BeneficiaryDraft, beneficiaryOf, noBeneficiary } from '../records/beneficiary-fields.tsx';
import { type Row, recordOf } from '../records/rows.tsx';
import { scenarioOf } from '../records/scenario-field.tsx';

export interface Draft {
  readonly amount: string;
  /** The side that the amount applies to. */
  readonly side: 'source' | 'target';
  readonly source: string;
  readonly target: string;
  readonly fundFrom: string;
  readonly beneficiary: BeneficiaryDraft;
  readonly customerId: string;
  readonly reference: string;
  readonly metadata: readonly Row[];
  readonly steps: readonly string[];
  readonly isAutomatic: boolean;
}

export const emptyDraft: Draft = {
  amount: '',
  side: 'source',
  source: 'EUR',
  target: 'USD',
  fundFrom: 'external',
  beneficiary: noBeneficiary,
  customerId: '',
  reference: '',
  metadata: [],
  steps: ['approve'],
  isAutomatic: false,
};

/** The currency that the amount is in. */
export function amountCurrency({ side, source, target }: Draft): string {
  return side === 'source' ? source : target;
}

/** The amount in minor units; undefined until there is one. */
export function minorAmount(draft: Draft): number | undefined {
  const parsed = parseAmount(draft.amount, amountCurrency(draft));
  return 'problem' in parsed || parsed.minor === 0 ? undefined : parsed.minor;
}

/** The body of POST developer_api_transfers; undefined until there is an amount. */
export function bodyOf(draft: Draft) {
  const amount = minorAmount(draft);
  if (amount === undefined) return undefined;
  const beneficiary = beneficiaryOf(draft.beneficiary);
  const metadata = recordOf(draft.metadata);
  return {
    sourceCurrency: draft.source,
    targetCurrency: draft.target,
    [draft.side === 'source' ? 'sourceAmount' : 'targetAmount']: amount,
    fundFrom: draft.fundFrom,
    scenario: scenarioOf(draft.steps),
    autoAdvance: draft.isAutomatic,
    ...(beneficiary === undefined ? {} : { beneficiary }),
    ...(draft.customerId.trim() === '' ? {} : { customerId: draft.customerId.trim() }),
    ...(draft.reference.trim() === '' ? {} : { reference: draft.reference.trim() }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}
