import { useFilters } from '../client/filters.ts';
import { useRead } from '../client/queries.ts';
import type { Coverage as CoverageRecord } from '../generated/shapes.ts';
import { ExportRows } from '../parts/export-button.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { ProblemBanner } from '../parts/problem.tsx';
import { Progress } from '../parts/progress.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { formatPercent } from './charts/point.ts';
import { CoverageActions } from './coverage/actions.tsx';
import { CoverageFilters } from './coverage/filters.tsx';
import { CoverageItems } from './coverage/items.tsx';
import { kindLabels } from './coverage/kind-labels.ts';
import { DocsLink } from './docs-link.tsx';

// Tests run while the page is open.
const refreshMs = 5_000;

/** Which states, transitions, events, operations and errors an integration's tests have exercised. */
export function Coverage() {
  const [filters, setFilters] = useFilters('tab', 'resource', 'show');
  const { data, problem, refresh } = useRead<CoverageRecord>(
    'app/developer_api_coverage',
    { resource: filters.resource },
    { everyMs: refreshMs, keepPreviousData: true },
  );
  const sections = data?.sections ?? [];
  const open = sections.find(({ kind }) => kind === filters.tab) ?? sections[0];
  return (
    <>
      <PageHeader
        title="Coverage"
        description={
          <>
            What your tests have covered in this organization so far, and what they have not.{' '}
            <DocsLink to="/docs/coverage">How coverage is counted</DocsLink>
          </>
        }
        actions={
          <>
            <ExportRows
              rows={sections.flatMap(({ kind, items }) => items.map((item) => ({ kind, ...item })))}
              name="coverage"
            />
            <CoverageActions resource={filters.resource} />
          </>
        }
      />
      {problem && data === undefined ? <ProblemBanner problem={problem} onRetry={refresh} /> : null}
      {data === undefined ? (
        problem ? null : (
          <Skeleton className="h-96 w-full" />
        )
      ) : (
        <Summary coverage={data} />
      )}
      {data === undefined ? null : <CoverageFilters {...{ filters, setFilters }} />}
      {open === undefined ? null : (
        <Tabs
          label="Coverage kinds"
          value={open.kind}
          onChange={(tab) => setFilters({ tab: tab === sections[0]?.kind ? '' : tab })}
          tabs={sections.map((section) => ({
            value: section.kind,
            label: (
              <>
                {kindLabels[section.kind].plural}{' '}
                <span className="font-normal text-faint tabular-nums">
                  {section.met} of {section.total}
                </span>
              </>
            ),
            content: <CoverageItems section={section} show={filters.show} />,
          }))}
        />
      )}
    </>
  );
}

function Summary({ coverage: { summary } }: { readonly coverage: CoverageRecord }) {
  return (
    <div className="mb-6 rounded-lg border bg-surface px-5 py-4">
      <p className="mb-2 flex flex-wrap items-baseline gap-x-2">
        <span className="text-xl font-semibold tabular-nums">
          {formatPercent(summary.met, summary.total)}
        </span>
        <span className="text-muted tabular-nums">
          {summary.met} of {summary.total} covered
        </span>
      </p>
      <Progress label="Covered" value={summary.met} max={summary.total} />
    </div>
  );
}
