import { parseMajor } from '../../client/amount.ts';
import { type BeneficiaryDraft, beneficiaryOf, noBeneficiary } from './beneficiary-fields.tsx';
import { type Row, recordOf } from './rows.tsx';

export type Resource = 'payment' | 'refund' | 'dispute' | 'transfer';

/** An input of an action. The kinds are named after the request body fields. */
export type ActionField =
  | { readonly kind: 'amount'; readonly maximum: 'amountCapturable' | 'amountRefundable' | 'disputable' }
  | { readonly kind: 'final' }
  | { readonly kind: 'reason' }
  | { readonly kind: 'metadata' }
  | { readonly kind: 'evidence' }
  | { readonly kind: 'beneficiary' }
  | { readonly kind: 'declineCode' }
  | { readonly kind: 'failureCode' }
  | { readonly kind: 'returnCode' };

/** The body field's name, as in the `param` of server errors. */
export function paramOf({ kind }: ActionField): string {
  return kind === 'declineCode' ? 'failureCode' : kind;
}

const beneficiary: ActionField = { kind: 'beneficiary' };

const byAction: Readonly<Record<Resource, Readonly<Record<string, readonly ActionField[]>>>> = {
  payment: {
    capture: [{ kind: 'amount', maximum: 'amountCapturable' }, { kind: 'final' }],
    fail: [{ kind: 'declineCode' }],
    refund: [{ kind: 'amount', maximum: 'amountRefundable' }, { kind: 'reason' }, { kind: 'metadata' }],
    dispute: [{ kind: 'amount', maximum: 'disputable' }, { kind: 'reason' }],
  },
  refund: {},
  dispute: { submit_evidence: [{ kind: 'evidence' }] },
  transfer: {
    accept: [beneficiary],
    return: [{ kind: 'returnCode' }],
    fail: [{ kind: 'failureCode' }],
  },
};

const byTargetState: Readonly<Record<Resource, Readonly<Record<string, readonly ActionField[]>>>> = {
  payment: {
    partially_captured: [{ kind: 'amount', maximum: 'amountCapturable' }],
    partially_refunded: [{ kind: 'amount', maximum: 'amountRefundable' }],
    disputed: [{ kind: 'amount', maximum: 'disputable' }],
    failed: [{ kind: 'declineCode' }],
  },
  refund: {},
  dispute: {},
  transfer: {
    returned: [{ kind: 'returnCode' }, beneficiary],
    refunded: [{ kind: 'returnCode' }, beneficiary],
    failed: [{ kind: 'failureCode' }, beneficiary],
  },
};

export function fieldsOfAction(resource: Resource, action: string): readonly ActionField[] {
  return byAction[resource][action] ?? [];
}

export function fieldsOfTargetState(resource: Resource, state: string): readonly ActionField[] {
  return byTargetState[resource][state] ?? (resource === 'transfer' && state !== '' ? [beneficiary] : []);
}

/** Irreversible actions, which ask for confirmation if they have no form. */
const irreversible = new Set(['cancel', 'expire', 'reject', 'lose', 'fail', 'refund']);

export function isIrreversible(resource: Resource, action: string): boolean {
  return irreversible.has(action) || (resource === 'dispute' && action === 'accept');
}

export interface ActionDraft {
  readonly amount: string;
  readonly isFinal: boolean;
  readonly reason: string;
  readonly code: string;
  readonly rows: readonly Row[];
  readonly beneficiary: BeneficiaryDraft;
}

export const emptyDraft: ActionDraft = {
  amount: '',
  isFinal: false,
  reason: '',
  code: '',
  rows: [],
  beneficiary: noBeneficiary,
};

type Body = Readonly<Record<string, unknown>>;

/** The draft's part of the body, without empty fields; undefined while an amount is invalid. */
export function bodyOf(
  fields: readonly ActionField[],
  draft: ActionDraft,
  exponent: number,
): Body | undefined {
  const body: Record<string, unknown> = {};
  const put = (name: string, value: unknown) => {
    if (value !== undefined && value !== '') body[name] = value;
  };
  for (const { kind } of fields) {
    if (kind === 'amount' && draft.amount.trim() !== '') {
      const minor = parseMajor(draft.amount, exponent);
      if (minor === undefined || minor === 0) return undefined;
      body.amount = minor;
    } else if (kind === 'final') put('final', draft.isFinal || undefined);
    else if (kind === 'reason') put('reason', draft.reason.trim());
    else if (kind === 'declineCode' || kind === 'failureCode') put('failureCode', draft.code.trim());
    else if (kind === 'returnCode') put('returnCode', draft.code.trim());
    else if (kind === 'metadata' || kind === 'evidence') put(kind, recordOf(draft.rows));
    else if (kind === 'beneficiary') put('beneficiary', beneficiaryOf(draft.beneficiary));
  }
  return body;
}
