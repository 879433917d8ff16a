import { amountText } from '../../client/amount.ts';
import { Card } from '../../parts/card.tsx';
import { Field, Input } from '../../parts/field.tsx';
import type { Draft } from './draft.ts';
import { parsePercent } from './percent.ts';
import type { SectionProps } from './section.ts';

/** The provider's fee on each capture. */
export function FeeSection({ draft, errors, onChange }: SectionProps) {
  const fee = feeOfHundred(draft);
  return (
    <Card title="Fee" description="The provider’s fee on each capture. Changes apply to new payments only.">
      <div className="grid max-w-xl gap-4 sm:grid-cols-2">
        <Field label="Percentage fee (%)" error={errors.feePercent} param="fee.basisPoints">
          <Input
            isMono
            inputMode="decimal"
            autoComplete="off"
            value={draft.feePercent}
            onChange={(event) => onChange({ feePercent: event.currentTarget.value })}
          />
        </Field>
        <Field
          label="Fixed fee (minor units)"
          hint="In the payment’s currency: 30 is 0.30 EUR, or 30 JPY."
          error={errors.feeFixed}
          param="fee.fixedAmount"
        >
          <Input
            isMono
            inputMode="numeric"
            autoComplete="off"
            value={draft.feeFixed}
            onChange={(event) => onChange({ feeFixed: event.currentTarget.value.trim() })}
          />
        </Field>
      </div>
      {fee === undefined ? null : (
        <p className="mt-3 text-sm text-muted">
          Fee on a capture of 100.00 EUR: <span className="font-mono text-ink">{amountText(fee, 'EUR')}</span>
          .
        </p>
      )}
    </Card>
  );
}

/** Of 10,000 cents the basis points equal the cents, so nothing is rounded; a fee never exceeds the amount. */
function feeOfHundred({ feePercent, feeFixed }: Draft): string | undefined {
  const share = parsePercent(feePercent);
  if (share === undefined || !/^\d+$/.test(feeFixed)) return undefined;
  const fee = BigInt(share) + BigInt(feeFixed);
  return String(fee < 10_000n ? fee : 10_000n);
}
