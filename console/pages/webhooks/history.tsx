import { useFilters } from '../../client/filters.ts';
import { useNow } from '../../client/now.ts';
import { useList } from '../../client/queries.ts';
import type { DeliveryStatus, DeliveryWithAttempts } from '../../generated/shapes.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ExportButton } from '../../parts/export-button.tsx';
import { FilterBar, FilterDates, FilterSelect, FilterText } from '../../parts/filter-bar.tsx';
import { optionsOf } from '../../parts/options.ts';
import { DeliveryTable } from '../deliveries/table.tsx';
import { ShortLink } from '../log/short-link.tsx';

/** Past and pending deliveries to one endpoint. */
export function DeliveryHistory({ webhookId }: { readonly webhookId: string }) {
  const [filters, setFilters] = useFilters('status', 'eventType', 'eventId', 'createdAfter', 'createdBefore');
  const list = useList<DeliveryWithAttempts>('app/deliveries', { ...filters, webhookId });
  const now = useNow('application');
  const isFiltered = Object.keys(filters).length > 0;
  const clear = () => setFilters(Object.fromEntries(Object.keys(filters).map((name) => [name, undefined])));
  return (
    <section aria-labelledby="deliveries">
      <h2 id="deliveries" className="mb-3 text-lg font-semibold">
        Deliveries
      </h2>
      <FilterBar
        onClear={isFiltered ? clear : undefined}
        actions={
          <ExportButton
            path="app/developer_api_webhook_deliveries"
            filters={{ ...filters, webhookId }}
            name="deliveries"
          />
        }
      >
        <FilterSelect
          label="Status"
          value={filters.status}
          options={optionsOf<DeliveryStatus>({
            pending: 'Pending',
            succeeded: 'Succeeded',
            failed: 'Failed',
          })}
          onChange={(status) => setFilters({ status })}
        />
        <FilterText
          label="Event type"
          value={filters.eventType}
          placeholder="payment.captured"
          onChange={(eventType) => setFilters({ eventType })}
        />
        <FilterText
          label="Event id"
          value={filters.eventId}
          placeholder="evt_…"
          onChange={(eventId) => setFilters({ eventId })}
        />
        <FilterDates
          label="Created"
          from={filters.createdAfter}
          to={filters.createdBefore}
          now={now}
          onChange={({ from, to }) => setFilters({ createdAfter: from, createdBefore: to })}
        />
      </FilterBar>
      <DeliveryTable
        caption="Deliveries to this webhook, newest first"
        list={list}
        first={[
          {
            header: 'Event type',
            isWide: true,
            cell: ({ eventType }) => <span className="font-mono text-sm">{eventType}</span>,
          },
          {
            header: 'Record',
            isDetail: true,
            cell: ({ recordId, eventId }) =>
              recordId === eventId ? (
                <span className="text-faint">—</span>
              ) : (
                <span className="relative z-10">
                  <ShortLink id={recordId} />
                </span>
              ),
          },
        ]}
        empty={
          isFiltered ? (
            <EmptyState title="No delivery matches">Change the filters, or clear them.</EmptyState>
          ) : (
            <EmptyState title="No deliveries yet">
              Deliveries appear here with every attempt as soon as a matching event occurs. Send a test event
              to try the endpoint now.
            </EmptyState>
          )
        }
      />
    </section>
  );
}
