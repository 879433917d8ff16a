import { CircleAlert, CircleCheck } from 'lucide-react';
import type { Balances } from '../../generated/shapes.ts';
import { ExportRows } from '../../parts/export-button.tsx';
import { Money } from '../../parts/money.tsx';
import { classes, pluralize } from '../../parts/text.ts';

/** A prominent banner that says whether debits and credits agree. */
export function TrialBalance({ balances }: { readonly balances: Balances }) {
  const wrong = balances.trialBalance.filter(({ amount }) => BigInt(amount) !== 0n);
  const isBalanced = wrong.length === 0;
  if (balances.trialBalance.length === 0) return null;
  return (
    <section
      aria-label="Trial balance"
      className={classes(
        'mb-5 flex items-start gap-3 rounded-lg px-5 py-4',
        isBalanced ? 'bg-good-soft text-good' : 'bg-bad-soft text-bad',
      )}
    >
      {isBalanced ? (
        <CircleCheck aria-hidden size={20} className="mt-0.5 shrink-0" />
      ) : (
        <CircleAlert aria-hidden size={20} className="mt-0.5 shrink-0" />
      )}
      <div className="min-w-0 flex-1">
        <h2 className="text-lg font-semibold">
          {isBalanced ? 'The ledger is balanced' : 'The ledger is not balanced'}
        </h2>
        {isBalanced ? (
          <p>
            Debits and credits agree in {pluralize(balances.trialBalance.length, 'currency', 'currencies')}:{' '}
            {balances.trialBalance.map(({ currency }) => currency).join(', ')}.
          </p>
        ) : (
          <p>
            Debits minus credits:{' '}
            {wrong.map(({ currency, amount }) => (
              <Money key={currency} amount={amount} currency={currency} className="mr-3" />
            ))}
          </p>
        )}
      </div>
      <ExportRows rows={balances.trialBalance} name="trial-balance" label="Export trial balance" />
    </section>
  );
}
