import { BookOpen } from 'lucide-react';
import { useAllowed } from '../../frame/session.tsx';
import type { Balances as BalancesRecord } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { buttonClass } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ScrollRegion } from '../../parts/scroll-region.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { Sides } from './sides.tsx';

/** The accounts of every currency in use. Accounts with a zero balance are hidden unless `hasZeros`. */
export function BalanceCards({
  balances,
  hasZeros,
  isRecordScope,
}: {
  readonly balances: BalancesRecord;
  readonly hasZeros: boolean;
  /** For one payment or transfer instead of the whole ledger. */
  readonly isRecordScope: boolean;
}) {
  if (balances.trialBalance.length === 0) return <NoBalances isRecordScope={isRecordScope} />;
  return (
    <div className="grid items-start gap-5 xl:grid-cols-2">
      {balances.trialBalance.map(({ currency, amount }) => {
        const rows = balances.accounts
          .filter((row) => row.currency === currency && (hasZeros || BigInt(row.balance) !== 0n))
          .map((row) => ({ ...row, amount: row.balance }));
        return (
          <Card
            key={currency}
            isFlush
            title={currency}
            actions={<BalancedBadge isBalanced={BigInt(amount) === 0n} />}
          >
            {rows.length === 0 ? (
              <p className="px-5 pb-4 text-muted">All balances are zero.</p>
            ) : (
              <ScrollRegion label={`Balances in ${currency}`} className="border-t">
                <Sides caption={`Balances in ${currency}`} rows={rows} hasTotal />
              </ScrollRegion>
            )}
          </Card>
        );
      })}
    </div>
  );
}

function BalancedBadge({ isBalanced }: { readonly isBalanced: boolean }) {
  return (
    <StatusBadge
      status="balance"
      tone={isBalanced ? 'good' : 'bad'}
      label={isBalanced ? 'Balanced' : 'Not balanced'}
    />
  );
}

function NoBalances({ isRecordScope }: { readonly isRecordScope: boolean }) {
  const mayCreate = useAllowed('developer') && !isRecordScope;
  return (
    <div className="rounded-lg border bg-surface">
      <EmptyState
        icon={<BookOpen aria-hidden size={20} />}
        title={isRecordScope ? 'No postings for this record' : 'No postings yet'}
        action={
          mayCreate ? (
            <Anchor to="payments" search={{ create: '1' }} className={buttonClass('primary')}>
              Create a payment
            </Anchor>
          ) : undefined
        }
      >
        Every authorization, capture, settlement, refund, dispute and transfer is posted here, debit and
        credit.
      </EmptyState>
    </div>
  );
}
