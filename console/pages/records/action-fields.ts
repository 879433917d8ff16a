import { parseMajor } from '../../client/amount.ts';
import { type BeneficiaryDraft, beneficiaryOf, noBeneficiary } from './beneficiary-fields.tsx';
import { type Row, recordOf } from './rows.tsx';

export type Resource = 'payment' | 'refund' | 'dispute' | 'transfer';

/** What a form asks for before an action. The names are those of the request's body. */
export type ActionField =
  | { readonly kind: 'amount'; readonly most: 'amountCapturable' | 'amountRefundable' | 'disputable' }
  | { readonly kind: 'final' }
  | { readonly kind: 'reason' }
  | { readonly kind: 'metadata' }
  | { readonly kind: 'evidence' }
  | { readonly kind: 'beneficiary' }
  | { readonly kind: 'declineCode' }
  | { readonly kind: 'failureCode' }
  | { readonly kind: 'returnCode' };

/** The name of a field in the body, by which the server refuses it. */
export function paramOf({ kind }: ActionField): string {
  return kind === 'declineCode' ? 'failureCode' : kind;
}

const beneficiary: ActionField = { kind: 'beneficiary' };

const byAction: Readonly<Record<Resource, Readonly<Record<string, readonly ActionField[]>>>> = {
  payment: {
    capture: [{ kind: 'amount', most: 'amountCapturable' }, { kind: 'final' }],
    fail: [{ kind: 'declineCode' }],
    refund: [{ kind: 'amount', most: 'amountRefundable' }, { kind: 'reason' }, { kind: 'metadata' }],
    dispute: [{ kind: 'amount', most: 'disputable' }, { kind: 'reason' }],
  },
  refund: {},
  dispute: { submit_evidence: [{ kind: 'evidence' }] },
  transfer: {
    accept: [beneficiary],
    return: [{ kind: 'returnCode' }],
    fail: [{ kind: 'failureCode' }],
  },
};

const byGoal: Readonly<Record<Resource, Readonly<Record<string, readonly ActionField[]>>>> = {
  payment: {
    partially_captured: [{ kind: 'amount', most: 'amountCapturable' }],
    partially_refunded: [{ kind: 'amount', most: 'amountRefundable' }],
    disputed: [{ kind: 'amount', most: 'disputable' }],
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

export function fieldsOfGoal(resource: Resource, state: string): readonly ActionField[] {
  return byGoal[resource][state] ?? (resource === 'transfer' && state !== '' ? [beneficiary] : []);
}

/** What ends something for good is confirmed first, when it has no form of its own. */
const ending = new Set(['cancel', 'expire', 'reject', 'lose', 'fail', 'refund']);

export function isEnding(resource: Resource, action: string): boolean {
  return ending.has(action) || (resource === 'dispute' && action === 'accept');
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

/** The draft's part of the body; undefined while an amount cannot be read. What was left empty is left out. */
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
