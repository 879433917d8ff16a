import { SearchX } from 'lucide-react';
import { useRead } from '../../client/queries.ts';
import type { SearchAnswer, SearchHit } from '../../client/shapes.ts';
import { pageOf } from '../../parts/anchor.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { sentence } from '../../parts/words.ts';

const columns: readonly Column<SearchHit>[] = [
  { header: 'Found', cell: (hit) => hit.title },
  { header: 'Kind', cell: (hit) => sentence(hit.kind) },
  { header: 'About', cell: (hit) => hit.subtitle ?? '', isMinor: true, isWide: true },
  { header: 'Status', cell: (hit) => (hit.status === null ? '' : <StatusBadge status={hit.status} />) },
];

/** What the server found for a text: records of the list's own kind first. */
export function Hits({ text, kind }: { readonly text: string; readonly kind: SearchHit['kind'] }) {
  const { data, problem, isLoading, isRefreshing } = useRead<SearchAnswer>(
    'app/search',
    { q: text.slice(0, 100) },
    { keepsPrevious: true },
  );
  const hits = (data?.hits ?? []).filter(({ id }) => pageOf(id) !== undefined);
  const sorted = hits.toSorted((a, b) => Number(b.kind === kind) - Number(a.kind === kind));
  return (
    <Table
      caption={`Found for ${text}`}
      columns={columns}
      rows={sorted}
      rowKey={({ id }) => id}
      rowLink={({ id }) => pageOf(id) ?? ''}
      isLoading={isLoading}
      isRefreshing={isRefreshing}
      problem={problem}
      empty={
        <EmptyState icon={<SearchX aria-hidden size={20} />} title="Nothing found">
          Search looks for a whole id, the beginning of a reference, and the beginning of a customer’s name or
          email.
        </EmptyState>
      }
    />
  );
}
