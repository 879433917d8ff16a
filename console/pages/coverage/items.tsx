import { CircleCheck, CircleDashed } from 'lucide-react';
import type { CoverageItem, CoverageSection } from '../../generated/shapes.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { DocsLink, errorDocs } from '../docs-link.tsx';
import { kindLabels } from './kind-labels.ts';

export interface CoverageItemsProps {
  readonly section: CoverageSection;
  /** 'gaps', 'met', or all. */
  readonly show: string | undefined;
}

export function CoverageItems({ section, show }: CoverageItemsProps) {
  const { kind, items } = section;
  const shown = items.filter(({ count }) => (show === 'gaps' ? count === 0 : show !== 'met' || count > 0));
  return (
    <>
      <p className="mb-3 text-sm text-muted">{kindLabels[kind].hint}</p>
      <Table
        caption={kindLabels[kind].plural}
        columns={columnsFor(kind)}
        rows={shown}
        rowKey={({ name }) => name}
        empty={show === 'gaps' ? <NoGaps /> : <NothingCovered />}
      />
    </>
  );
}

function NoGaps() {
  return (
    <EmptyState icon={<CircleCheck aria-hidden size={20} />} title="No gaps">
      Everything of this kind is covered.
    </EmptyState>
  );
}

function NothingCovered() {
  return (
    <EmptyState icon={<CircleDashed aria-hidden size={20} />} title="Nothing covered yet">
      Run your integration’s tests against this organization; the results appear here within seconds.
    </EmptyState>
  );
}

function columnsFor(kind: CoverageSection['kind']): readonly Column<CoverageItem>[] {
  return [
    {
      header: 'Name',
      isWide: true,
      cell: ({ name, count }) => (
        <span className="flex items-center gap-2.5">
          {count > 0 ? (
            <CircleCheck aria-hidden size={15} className="shrink-0 text-good" />
          ) : (
            <CircleDashed aria-hidden size={15} className="shrink-0 text-faint" />
          )}
          <span className="min-w-0 font-mono text-xs break-words whitespace-normal">
            {kind === 'error' ? <DocsLink to={errorDocs(name)}>{name}</DocsLink> : name}
          </span>
        </span>
      ),
    },
    {
      header: 'Count',
      align: 'right',
      cell: ({ count }) =>
        count > 0 ? count.toLocaleString('en') : <span className="text-muted">Not covered</span>,
    },
  ];
}
