import { parseAmount } from '../../client/amount.ts';
import type { Capabilities, StateMachine } from '../../generated/shapes.ts';
import { type BeneficiaryDraft, beneficiaryOf, noBeneficiary } from './beneficiary-fields.tsx';
import { type Row, recordOf } from './rows.tsx';

export type Resource = 'payment' | 'refund' | 'dispute' | 'transfer';

type AmountMaximum = Capabilities['resources'][number]['amountMaximums'][string];

/** An input of an action. The kinds are named after the request body fields. */
export type ActionField =
  | { readonly kind: 'amount'; readonly maximum: AmountMaximum | undefined }
  | { readonly kind: (typeof plainKinds)[number] }
  | { readonly kind: 'declineCode' }
  | { readonly kind: 'failureCode' };

const plainKinds = ['final', 'reason', 'metadata', 'evidence', 'beneficiary', 'returnCode'] as const;

/** The part of the capabilities that decides which fields a form has. */
export type FieldRules = readonly Pick<
  Capabilities['resources'][number],
  'name' | 'actions' | 'actionFields' | 'targetFields' | 'amountMaximums'
>[];

export function fieldsOfAction(
  rules: FieldRules,
  resource: Resource,
  action: string,
): readonly ActionField[] {
  const rule = rules.find(({ name }) => name === resource);
  const names = rule?.actionFields[action] ?? [];
  return names.flatMap((name) => fieldOf(resource, name, rule?.amountMaximums[action]));
}

export function fieldsOfTargetState(
  rules: FieldRules,
  resource: Resource,
  state: string,
): readonly ActionField[] {
  const rule = rules.find(({ name }) => name === resource);
  const names = rule?.targetFields[state] ?? [];
  const maximums = rule?.actions
    .filter(({ to }) => to.includes(state))
    .flatMap(({ action }) => rule.amountMaximums[action] ?? []);
  return names.flatMap((name) => fieldOf(resource, name, maximums?.[0]));
}

/** The input for a body field. `currency` has none, because an amount is always in the currency of the record. */
function fieldOf(
  resource: Resource,
  name: string,
  maximum: AmountMaximum | undefined,
): readonly ActionField[] {
  if (name === 'amount') return [{ kind: 'amount', maximum }];
  if (name === 'failureCode') return [{ kind: resource === 'payment' ? 'declineCode' : 'failureCode' }];
  return plainKinds.filter((kind) => kind === name).map((kind) => ({ kind }));
}

/** Actions that can only lead off the path to the goal ask for confirmation if they have no form. */
export function isIrreversible(machine: StateMachine | undefined, action: string): boolean {
  return (machine?.moves ?? []).some(
    (move) =>
      move.action === action &&
      move.broughtBy === null &&
      !move.stays &&
      move.to.every((to) => machine?.setbacks.includes(to)),
  );
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
  currency: string,
): Body | undefined {
  const body: Record<string, unknown> = {};
  const put = (name: string, value: unknown) => {
    if (value !== undefined && value !== '') body[name] = value;
  };
  for (const { kind } of fields) {
    if (kind === 'amount' && draft.amount.trim() !== '') {
      const parsed = parseAmount(draft.amount, currency);
      if ('problem' in parsed || parsed.minor === 0) return undefined;
      body.amount = parsed.minor;
    } else if (kind === 'final') put('final', draft.isFinal || undefined);
    else if (kind === 'reason') put('reason', draft.reason.trim());
    else if (kind === 'declineCode' || kind === 'failureCode') put('failureCode', draft.code.trim());
    else if (kind === 'returnCode') put('returnCode', draft.code.trim());
    else if (kind === 'metadata' || kind === 'evidence') put(kind, recordOf(draft.rows));
    else if (kind === 'beneficiary') put('beneficiary', beneficiaryOf(draft.beneficiary));
  }
  return body;
}
