import { BookOpen } from 'lucide-react';
import type { Balances as BalancesRecord } from '../../client/shapes.ts';
import { useAllowed } from '../../frame/session.tsx';
import { Anchor } from '../../parts/anchor.tsx';
import { buttonClass } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Scrolled } from '../../parts/scrolled.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { Sides } from './sides.tsx';

/** The accounts of every currency in use. Those that stand at zero are left out unless they are asked for. */
export function BalanceCards({
  balances,
  hasZeros,
  isOfRecord,
}: {
  readonly balances: BalancesRecord;
  readonly hasZeros: boolean;
  /** Of one payment or transfer, and not of all the books. */
  readonly isOfRecord: boolean;
}) {
  if (balances.trialBalance.length === 0) return <NoBalances isOfRecord={isOfRecord} />;
  return (
    <div className="grid items-start gap-5 lg:grid-cols-2">
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
              <p className="px-5 pb-4 text-muted">Every account stands at zero.</p>
            ) : (
              <Scrolled label={`Balances in ${currency}`} className="border-t">
                <Sides caption={`Balances in ${currency}`} rows={rows} hasTotal />
              </Scrolled>
            )}
          </Card>
        );
      })}
    </div>
  );
}

export function BalancedBadge({ isBalanced }: { readonly isBalanced: boolean }) {
  return (
    <StatusBadge
      status="balance"
      tone={isBalanced ? 'good' : 'bad'}
      label={isBalanced ? 'Balanced' : 'Not balanced'}
    />
  );
}

function NoBalances({ isOfRecord }: { readonly isOfRecord: boolean }) {
  const mayCreate = useAllowed('developer') && !isOfRecord;
  return (
    <div className="rounded-lg border bg-surface">
      <EmptyState
        icon={<BookOpen aria-hidden size={20} />}
        title={isOfRecord ? 'No money of this record has moved' : 'No money has moved yet'}
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
