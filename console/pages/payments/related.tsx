import { type List, useRead } from '../../client/queries.ts';
import type { ApiProblem } from '../../client/request.ts';
import type { Dispute, Refund } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { Card } from '../../parts/card.tsx';
import { Money } from '../../parts/money.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { NoneLine } from '../records/facts.tsx';

const shownMax = 5;

export function RelatedRefunds({ paymentId }: { readonly paymentId: string }) {
  const { data, problem } = useRead<List<Refund>>('app/developer_api_refunds', {
    paymentId,
    limit: shownMax,
  });
  return <Related title="Refunds" page="refunds" paymentId={paymentId} rows={data} problem={problem} />;
}

export function RelatedDisputes({ paymentId }: { readonly paymentId: string }) {
  const { data, problem } = useRead<List<Dispute>>('app/developer_api_disputes', {
    paymentId,
    limit: shownMax,
  });
  return <Related title="Disputes" page="disputes" paymentId={paymentId} rows={data} problem={problem} />;
}

interface RelatedProps {
  readonly title: string;
  readonly page: 'refunds' | 'disputes';
  readonly paymentId: string;
  readonly rows: List<Refund | Dispute> | undefined;
  readonly problem: ApiProblem | null;
}

function Related({ title, page, paymentId, rows, problem }: RelatedProps) {
  if (rows?.data.length === 0) return <NoneLine title={title} />;
  return (
    <Card title={title} isCompact>
      {problem ? <ProblemBanner problem={problem} /> : null}
      <ul className="flex flex-col">
        {(rows?.data ?? []).map((row) => (
          <li
            key={row.id}
            className="flex items-center justify-between gap-3 border-b py-2 first:pt-0 last:border-b-0 last:pb-0"
          >
            <span className="min-w-0">
              <Anchor to={`${page}/${row.id}`}>
                <Money amount={row.amount} currency={row.currency} />
              </Anchor>
              <span className="block truncate text-sm text-muted">
                {row.reason === null ? '' : `${row.reason} · `}
                <Time at={row.createdAt} />
              </span>
            </span>
            <StatusBadge status={row.status} />
          </li>
        ))}
      </ul>
      {rows?.hasMore ? (
        <p className="mt-3">
          <Anchor to={page} search={{ paymentId }}>
            All {title.toLowerCase()} of this payment
          </Anchor>
        </p>
      ) : null}
    </Card>
  );
}
