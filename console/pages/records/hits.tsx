import { SearchX } from 'lucide-react';
import { useRead } from '../../client/queries.ts';
import type { SearchHit, SearchResults } from '../../generated/shapes.ts';
import { pageOf } from '../../parts/anchor.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { sentenceCase } from '../../parts/text.ts';

const columns: readonly Column<SearchHit>[] = [
  { header: 'Record', cell: (hit) => hit.title },
  { header: 'Kind', cell: (hit) => sentenceCase(hit.kind) },
  { header: 'Details', cell: (hit) => hit.subtitle ?? '', isMinor: true, isWide: true },
  { header: 'Status', cell: (hit) => (hit.status === null ? '' : <StatusBadge status={hit.status} />) },
];

/** Search results; records of the list's kind come first. */
export function Hits({ text, kind }: { readonly text: string; readonly kind: SearchHit['kind'] }) {
  const { data, problem, isLoading, isRefreshing } = useRead<SearchResults>(
    'app/search',
    { q: text.slice(0, 100) },
    { keepPreviousData: true },
  );
  const hits = (data?.hits ?? []).filter(({ id }) => pageOf(id) !== undefined);
  const sorted = hits.toSorted((a, b) => Number(b.kind === kind) - Number(a.kind === kind));
  return (
    <Table
      caption={`Results for ${text}`}
      columns={columns}
      rows={sorted}
      rowKey={({ id }) => id}
      rowLink={({ id }) => pageOf(id) ?? ''}
      isLoading={isLoading}
      isRefreshing={isRefreshing}
      problem={problem}
      empty={
        <EmptyState icon={<SearchX aria-hidden size={20} />} title="No results">
          Search matches ids, and parts of a reference, a description, or a customer’s name or email.
        </EmptyState>
      }
    />
  );
}
