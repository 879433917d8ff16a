import { useFilters } from '../client/filters.ts';
import { useRead } from '../client/queries.ts';
import type { Coverage as CoverageRecord } from '../client/shapes.ts';
import { PageHeader } from '../parts/page-header.tsx';
import { ProblemBanner } from '../parts/problem.tsx';
import { Progress } from '../parts/progress.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { percentWords } from './charts/point.ts';
import { CoverageActions } from './coverage/actions.tsx';
import { CoverageFilters } from './coverage/filters.tsx';
import { CoverageItems } from './coverage/items.tsx';
import { kindWords } from './coverage/words.ts';
import { DocsLink } from './docs-link.tsx';

// Tests run beside the page.
const refreshMs = 5_000;

/** What the tests of an integration have met of all that Sandbank can do to it, and what not. */
export function Coverage() {
  const [filters, setFilters] = useFilters('tab', 'resource', 'show');
  const { data, problem, refresh } = useRead<CoverageRecord>(
    'app/developer_api_coverage',
    { resource: filters.resource },
    { everyMs: refreshMs, keepsPrevious: true },
  );
  const sections = data?.sections ?? [];
  const open = sections.find(({ kind }) => kind === filters.tab) ?? sections[0];
  return (
    <>
      <PageHeader
        title="Coverage"
        description={
          <>
            What this organization has met so far, and what your integration was never tested against.{' '}
            <DocsLink to="/docs/coverage">How it is counted</DocsLink>
          </>
        }
        actions={<CoverageActions resource={filters.resource} />}
      />
      {problem && data === undefined ? <ProblemBanner problem={problem} onRetry={refresh} /> : null}
      {data === undefined ? problem ? null : <Skeleton className="h-96 w-full" /> : <Whole coverage={data} />}
      <CoverageFilters {...{ filters, setFilters }} />
      {open === undefined ? null : (
        <Tabs
          label="What is counted"
          value={open.kind}
          onChange={(tab) => setFilters({ tab: tab === sections[0]?.kind ? '' : tab })}
          tabs={sections.map((section) => ({
            value: section.kind,
            label: (
              <>
                {kindWords[section.kind].many}{' '}
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

function Whole({ coverage: { summary } }: { readonly coverage: CoverageRecord }) {
  return (
    <div className="mb-6 rounded-lg border bg-surface px-5 py-4">
      <p className="mb-2 flex flex-wrap items-baseline gap-x-2">
        <span className="text-xl font-semibold tabular-nums">{percentWords(summary.met, summary.total)}</span>
        <span className="text-muted tabular-nums">
          {summary.met} of {summary.total} met
        </span>
      </p>
      <Progress label="Met of all" value={summary.met} max={summary.total} />
    </div>
  );
}
