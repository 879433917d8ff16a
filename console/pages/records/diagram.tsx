import { lazy, Suspense } from 'react';
import { useRead } from '../../client/queries.ts';
import type { StateMachine, StateMachines } from '../../client/shapes.ts';
import { Card } from '../../parts/card.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { type Reach, reachOf } from './machine.ts';
import type { Path } from './timeline-groups.ts';

const Drawing = lazy(() => import('./drawing.tsx'));

export interface DiagramProps {
  /** 'payment', 'refund', 'dispute' or 'transfer'. */
  readonly resource: string;
  readonly status: string;
  readonly allowed: readonly string[];
  readonly path: Path;
}

export function useMachine(resource: string) {
  const { data, problem, refresh } = useRead<StateMachines>('app/developer_api_state_machines');
  return { machine: data?.machines.find((one) => one.resource === resource), problem, refresh };
}

/** The record's machine with the present state lit. The layout is computed by a library that comes with the drawing. */
export function Diagram({ resource, status, allowed, path }: DiagramProps) {
  const { machine, problem, refresh } = useMachine(resource);
  const empty = <Skeleton className="h-72 w-full" />;
  return (
    <Card title="States" description="Where it is, where it has been, and where it can go from here.">
      {problem ? <ProblemBanner problem={problem} onRetry={refresh} /> : null}
      {machine === undefined ? (
        problem ? null : (
          empty
        )
      ) : (
        <>
          <Suspense fallback={empty}>
            <Drawing
              machine={machine}
              status={status}
              allowed={allowed}
              visited={path.states}
              walked={path.walked}
            />
          </Suspense>
          <Legend />
          <InWords machine={machine} status={status} allowed={allowed} path={path} />
        </>
      )}
    </Card>
  );
}

function Legend() {
  const swatch = 'inline-block h-3 w-5 shrink-0 rounded-sm border';
  return (
    <ul aria-hidden className="mt-3 flex flex-wrap gap-x-5 gap-y-1 text-xs text-muted">
      <li className="flex items-center gap-1.5">
        <span className={`${swatch} border-accent bg-accent`} /> now
      </li>
      <li className="flex items-center gap-1.5">
        <span className={`${swatch} border-accent bg-accent-soft`} /> visited
      </li>
      <li className="flex items-center gap-1.5">
        <span className="inline-block w-5 border-t-2 border-accent" /> possible now
      </li>
      <li className="flex items-center gap-1.5">
        <span className="inline-block w-5 border-t-2 border-dashed border-line-strong" /> brought by another
        record
      </li>
    </ul>
  );
}

type WordsProps = Omit<DiagramProps, 'resource'> & { readonly machine: StateMachine };

/** The same as a text: the picture alone would say nothing to a screen reader. */
function InWords({ machine, status, allowed, path }: WordsProps) {
  const reach = reachOf(machine, status, allowed);
  const before = path.states.filter((state) => state !== status);
  return (
    <details className="mt-3 text-sm">
      <summary className="w-fit rounded-sm text-muted hover:text-ink">The diagram in words</summary>
      <div className="mt-2 flex flex-col gap-1.5">
        <p>
          Now <b className="font-medium">{plain(status)}</b>
          {machine.finalStates.includes(status) ? ', which is final.' : '.'}
        </p>
        {before.length > 0 ? <p>Visited before: {before.map(plain).join(', ')}.</p> : null}
        {reach.length === 0 ? (
          <p>Nothing leads on from here.</p>
        ) : (
          <ul className="list-disc pl-5">
            {reach.map((one) => (
              <li key={one.action}>{reachWords(one)}</li>
            ))}
          </ul>
        )}
      </div>
    </details>
  );
}

function reachWords({ action, to, condition }: Reach): string {
  const places = to.length === 0 ? '' : ` leads to ${to.map(plain).join(' or ')}`;
  return `${plain(action)}${places}${condition === null ? '' : `, because ${condition}`}`;
}

export function plain(name: string): string {
  return name.replaceAll('_', ' ');
}
