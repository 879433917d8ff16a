import { Inbox } from 'lucide-react';
import type { PagedList } from '../../client/queries.ts';
import type { DeliveryWithAttempts } from '../../generated/shapes.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ExportButton } from '../../parts/export-button.tsx';
import { NewRows, Pager } from '../../parts/pager.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { useNewKeys } from '../../parts/table.tsx';
import { classes } from '../../parts/text.ts';
import { useRefresh } from '../deliveries/refresh.ts';
import { columns, InboxRow } from './row.tsx';
import { SamplePaymentButton, SamplePaymentCode } from './sample-payment.tsx';

/** The stream reports attempts of the newest deliveries only; a retry of an older one is noticed by reading. */
const pendingReadMs = 2_000;
const rowsWhileLoading = [1, 2, 3, 4, 5, 6];

/** What the inbox has received, newest first. */
export function InboxDeliveries({
  list,
  webhookId,
}: {
  readonly list: PagedList<DeliveryWithAttempts>;
  readonly webhookId: string;
}) {
  const isNew = useNewKeys(list.rows.map(({ id }) => id));
  useRefresh(
    list.refresh,
    list.rows.some(({ status, held }) => status === 'pending' && !held),
    pendingReadMs,
  );
  if (list.problem && list.rows.length === 0)
    return <ProblemBanner problem={list.problem} onRetry={list.refresh} />;
  if (!list.isLoading && list.rows.length === 0) return <NothingReceived />;
  return (
    <section aria-labelledby="received" aria-busy={list.isLoading}>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <h2 id="received" className="text-lg font-semibold">
          Received
        </h2>
        <div className="flex items-center gap-2">
          <ExportButton
            path="app/developer_api_webhook_deliveries"
            filters={{ webhookId }}
            name="deliveries"
          />
          <SamplePaymentButton />
        </div>
      </div>
      <NewRows {...list} />
      <div className="overflow-hidden rounded-lg border bg-surface">
        <div
          aria-hidden="true"
          className={classes('border-b px-5 py-2 text-sm font-medium text-faint max-lg:hidden', columns)}
        >
          {['Time', 'Event', 'Record', 'Responses', 'Signature', 'Status'].map((header) => (
            <span key={header}>{header}</span>
          ))}
        </div>
        {list.isLoading ? (
          rowsWhileLoading.map((row) => (
            <div key={row} className="border-b px-5 py-2.5 last:border-b-0">
              <Skeleton className="h-4 w-full" />
            </div>
          ))
        ) : (
          <ul>
            {list.rows.map((delivery) => (
              <InboxRow key={delivery.id} delivery={delivery} isNew={isNew(delivery.id)} />
            ))}
          </ul>
        )}
        <Pager {...list.paging} count={list.rows.length} />
      </div>
    </section>
  );
}

function NothingReceived() {
  return (
    <section aria-label="Received" className="rounded-lg border bg-surface">
      <EmptyState
        icon={<Inbox aria-hidden size={20} />}
        title="Nothing received yet"
        action={<SamplePaymentButton isPrimary />}
      >
        Events of this application appear here as they arrive, with their signature checked.
      </EmptyState>
      <div className="mx-auto max-w-2xl px-5 pb-8">
        <SamplePaymentCode />
      </div>
    </section>
  );
}
