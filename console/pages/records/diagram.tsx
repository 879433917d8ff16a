import { Suspense } from 'react';
import { useRead } from '../../client/queries.ts';
import type { StateMachine, StateMachines } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { lazyPart } from '../../parts/lazy-part.ts';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { type AllowedAction, allowedActions } from './machine.ts';
import type { Path } from './timeline-groups.ts';

const Drawing = lazyPart(() => import('./drawing.tsx'));

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

/** The record's state machine with the current state highlighted. The drawing and its layout library load lazily. */
export function DiagramDialog({
  resource,
  status,
  allowed,
  path,
  onClose,
}: DiagramProps & { readonly onClose: () => void }) {
  const { machine, problem, refresh } = useMachine(resource);
  const empty = <Skeleton className="h-72 w-full" />;
  return (
    <Dialog isOpen onOpenChange={onClose} size="wide" title="All states">
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
              taken={path.taken}
            />
          </Suspense>
          <Legend />
          <DiagramText machine={machine} status={status} allowed={allowed} path={path} />
        </>
      )}
    </Dialog>
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
        <span className="inline-block w-5 border-t-2 border-dashed border-line-strong" /> triggered by another
        record
      </li>
    </ul>
  );
}

type DiagramTextProps = Omit<DiagramProps, 'resource'> & { readonly machine: StateMachine };

/** The diagram as text, for screen readers. */
function DiagramText({ machine, status, allowed, path }: DiagramTextProps) {
  const actions = allowedActions(machine, status, allowed);
  const before = path.states.filter((state) => state !== status);
  return (
    <details className="mt-3 text-sm">
      <summary className="w-fit rounded-sm text-muted hover:text-ink">Diagram as text</summary>
      <div className="mt-2 flex flex-col gap-1.5">
        <p>
          Now <b className="font-medium">{spaced(status)}</b>
          {machine.finalStates.includes(status) ? ', which is final.' : '.'}
        </p>
        {before.length > 0 ? <p>Visited before: {before.map(spaced).join(', ')}.</p> : null}
        {actions.length === 0 ? (
          <p>No actions are allowed in this state.</p>
        ) : (
          <ul className="list-disc pl-5">
            {actions.map((one) => (
              <li key={one.action}>{describeAction(one)}</li>
            ))}
          </ul>
        )}
      </div>
    </details>
  );
}

function describeAction({ action, to, condition }: AllowedAction): string {
  const targets = to.length === 0 ? '' : ` leads to ${to.map(spaced).join(' or ')}`;
  return `${spaced(action)}${targets}${condition === null ? '' : `, because ${condition}`}`;
}

export function spaced(name: string): string {
  return name.replaceAll('_', ' ');
}
