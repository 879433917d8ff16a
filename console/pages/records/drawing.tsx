import { useEffect, useId, useMemo, useRef } from 'react';
import type { StateMachine } from '../../generated/shapes.ts';
import { classes } from '../../parts/text.ts';
import { type DiagramLayout, layOut, nodeHeight, separateLabels } from './layout.ts';
import { isAllowedEdge } from './machine.ts';

interface DrawingProps {
  readonly machine: StateMachine;
  readonly status: string;
  readonly allowed: readonly string[];
  readonly visited: readonly string[];
  /** Transitions taken so far, as 'from to'. */
  readonly taken: ReadonlySet<string>;
}

/** The default export: this module and the layout library form the lazy chunk. */
export default function Drawing({ machine, status, allowed, visited, taken }: DrawingProps) {
  const layout = useMemo(() => layOut(machine), [machine]);
  const id = useId();
  const box = useRef<HTMLElement>(null);
  const current = layout.nodes.find(({ state }) => state === status);
  const currentShare = (current?.x ?? 0) / layout.width;
  // On narrow screens, center the current state; only horizontally, so that the page does not jump. The drawing may be scaled.
  useEffect(() => {
    const element = box.current;
    if (element) element.scrollLeft = currentShare * element.scrollWidth - element.clientWidth / 2;
  }, [currentShare]);
  return (
    <section
      ref={box}
      aria-label="State diagram"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
      tabIndex={0}
      className="overflow-x-auto rounded-md border bg-sunken/60"
    >
      <svg
        role="img"
        aria-labelledby={`${id}-title`}
        viewBox={`0 0 ${layout.width} ${layout.height}`}
        width={layout.width}
        // Shrinks to at most 80% on a desktop. A drawing that scrolls anyway has its full size, so that it stays readable.
        className="mx-auto block h-auto xl:max-w-full"
        style={{ minWidth: Math.round(layout.width * 0.8) }}
      >
        <title id={`${id}-title`}>
          {`States of a ${machine.resource}, now ${status.replaceAll('_', ' ')}. A text version is below.`}
        </title>
        <defs>
          <Arrow id={`${id}-quiet`} className="fill-line-strong/30" />
          <Arrow id={`${id}-open`} className="fill-accent" />
        </defs>
        <Edges layout={layout} status={status} allowed={allowed} taken={taken} id={id} />
        {layout.nodes.map((node) => (
          <Node
            key={node.state}
            {...node}
            isNow={node.state === status}
            isVisited={visited.includes(node.state)}
            isFinal={machine.finalStates.includes(node.state)}
          />
        ))}
        <Labels layout={layout} status={status} allowed={allowed} />
      </svg>
    </section>
  );
}

function Arrow({ id, className }: { readonly id: string; readonly className: string }) {
  return (
    <marker id={id} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
      <path d="M0,0.8 L7.5,4 L0,7.2 z" className={className} />
    </marker>
  );
}

type EdgesProps = Pick<DrawingProps, 'status' | 'allowed'> & { readonly layout: DiagramLayout };

function Edges({
  layout,
  status,
  allowed,
  taken,
  id,
}: EdgesProps & Pick<DrawingProps, 'taken'> & { readonly id: string }) {
  // Draw allowed transitions last, above the others.
  const sorted = [...layout.edges].sort(
    (a, b) => Number(isAllowedEdge(a, status, allowed)) - Number(isAllowedEdge(b, status, allowed)),
  );
  return sorted.map((edge) => {
    const isAllowed = isAllowedEdge(edge, status, allowed);
    const isTaken = taken.has(`${edge.from} ${edge.to}`);
    return (
      <path
        key={`${edge.from} ${edge.to}`}
        d={edge.path}
        markerEnd={`url(#${id}-${isAllowed || isTaken ? 'open' : 'quiet'})`}
        strokeDasharray={edge.isTriggered ? '4 3' : undefined}
        className={classes(
          'fill-none',
          isAllowed
            ? 'stroke-accent [stroke-width:2]'
            : isTaken
              ? 'stroke-accent/60 [stroke-width:1.4]'
              : 'stroke-line-strong/20 [stroke-width:1]',
        )}
      >
        <title>{`${edge.from} → ${edge.to}: ${edge.actions.join(', ')}`}</title>
      </path>
    );
  });
}

/** Action names of allowed transitions only: all of them together would overlap. */
function Labels({ layout, status, allowed }: EdgesProps) {
  const open = layout.edges.filter((edge) => isAllowedEdge(edge, status, allowed));
  const labels = separateLabels(
    open.map((edge) => ({
      ...edge.label,
      key: `${edge.from} ${edge.to}`,
      text: edge.actions.filter((action) => allowed.includes(action)).join(', '),
    })),
  );
  return labels.map(({ key, text, x, y }) => (
    <text
      key={key}
      x={x}
      y={y + 3.5}
      textAnchor="middle"
      className="fill-accent stroke-sunken text-[11px] font-medium [paint-order:stroke] [stroke-linejoin:round] [stroke-width:4]"
    >
      {text}
    </text>
  ));
}

interface NodeProps {
  readonly state: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly isNow: boolean;
  readonly isVisited: boolean;
  readonly isFinal: boolean;
}

function Node({ state, x, y, width, isNow, isVisited, isFinal }: NodeProps) {
  const box = isNow
    ? 'fill-accent stroke-accent'
    : isVisited
      ? 'fill-accent-soft stroke-accent'
      : 'fill-surface stroke-line-strong/70';
  const textClass = isNow
    ? 'fill-on-accent font-semibold'
    : isVisited
      ? 'fill-accent font-medium'
      : 'fill-muted';
  return (
    <g>
      <rect
        x={x - width / 2}
        y={y - nodeHeight / 2}
        width={width}
        height={nodeHeight}
        rx={isFinal ? nodeHeight / 2 : 5}
        className={classes(box, isNow || isVisited ? '[stroke-width:1.5]' : '[stroke-width:1]')}
      />
      <text x={x} y={y + 4} textAnchor="middle" className={classes('text-[12px]', textClass)}>
        {state.replaceAll('_', ' ')}
      </text>
    </g>
  );
}
