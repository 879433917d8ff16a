import { useEffect, useId, useMemo, useRef } from 'react';
import type { StateMachine } from '../../client/shapes.ts';
import { classes } from '../../parts/words.ts';
import { apart, nodeHeight, type Placed, place } from './layout.ts';
import { isOpen } from './machine.ts';

interface DrawingProps {
  readonly machine: StateMachine;
  readonly status: string;
  readonly allowed: readonly string[];
  readonly visited: readonly string[];
  /** 'from to' of the moves that were made. */
  readonly walked: ReadonlySet<string>;
}

/** The default export: this module and the layout library make the lazy chunk. */
export default function Drawing({ machine, status, allowed, visited, walked }: DrawingProps) {
  const placed = useMemo(() => place(machine), [machine]);
  const id = useId();
  const box = useRef<HTMLElement>(null);
  const here = placed.nodes.find(({ state }) => state === status);
  const hereX = here?.x ?? 0;
  // On narrow screens the present state is brought into view; only sideways, so the page does not jump.
  useEffect(() => {
    const element = box.current;
    if (element) element.scrollLeft = hereX - element.clientWidth / 2;
  }, [hereX]);
  return (
    <section
      ref={box}
      aria-label="State diagram"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide diagram scrolls, which the keyboard must reach too
      tabIndex={0}
      className="overflow-x-auto rounded-md border bg-sunken/60"
    >
      <svg
        role="img"
        aria-labelledby={`${id}-title`}
        viewBox={`0 0 ${placed.width} ${placed.height}`}
        className="mx-auto block h-auto w-full"
        // It shrinks a little where the column is narrow; smaller than that it scrolls, so that it can be read.
        style={{ maxWidth: placed.width, minWidth: Math.round(placed.width * 0.86) }}
      >
        <title id={`${id}-title`}>
          {`States of a ${machine.resource}, now ${status.replaceAll('_', ' ')}. The words are below.`}
        </title>
        <defs>
          <Arrow id={`${id}-quiet`} className="fill-line-strong" />
          <Arrow id={`${id}-open`} className="fill-accent" />
        </defs>
        <Edges placed={placed} status={status} allowed={allowed} walked={walked} id={id} />
        {placed.nodes.map((node) => (
          <Node
            key={node.state}
            {...node}
            isNow={node.state === status}
            isVisited={visited.includes(node.state)}
            isFinal={machine.finalStates.includes(node.state)}
          />
        ))}
        <Labels placed={placed} status={status} allowed={allowed} />
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

type EdgesProps = Pick<DrawingProps, 'status' | 'allowed'> & { readonly placed: Placed };

function Edges({
  placed,
  status,
  allowed,
  walked,
  id,
}: EdgesProps & Pick<DrawingProps, 'walked'> & { readonly id: string }) {
  // What is possible is drawn last, above the quiet lines.
  const sorted = [...placed.edges].sort(
    (a, b) => Number(isOpen(a, status, allowed)) - Number(isOpen(b, status, allowed)),
  );
  return sorted.map((edge) => {
    const isLit = isOpen(edge, status, allowed);
    const isWalked = walked.has(`${edge.from} ${edge.to}`);
    return (
      <path
        key={`${edge.from} ${edge.to}`}
        d={edge.path}
        markerEnd={`url(#${id}-${isLit || isWalked ? 'open' : 'quiet'})`}
        strokeDasharray={edge.isBrought ? '4 3' : undefined}
        className={classes(
          'fill-none',
          isLit
            ? 'stroke-accent [stroke-width:2]'
            : isWalked
              ? 'stroke-accent/60 [stroke-width:1.4]'
              : 'stroke-line-strong/45 [stroke-width:1]',
        )}
      >
        <title>{`${edge.from} → ${edge.to}: ${edge.actions.join(', ')}`}</title>
      </path>
    );
  });
}

/** Names of the actions, only where they are possible: all of them at once could not be read. */
function Labels({ placed, status, allowed }: EdgesProps) {
  const open = placed.edges.filter((edge) => isOpen(edge, status, allowed));
  const labels = apart(
    open.map((edge) => ({
      ...edge.label,
      key: `${edge.from} ${edge.to}`,
      words: edge.actions.filter((action) => allowed.includes(action)).join(', '),
    })),
  );
  return labels.map(({ key, words, x, y, anchor }) => (
    <text
      key={key}
      x={x}
      y={y + 3.5}
      textAnchor={anchor}
      className="fill-accent stroke-sunken text-[11px] font-medium [paint-order:stroke] [stroke-linejoin:round] [stroke-width:4]"
    >
      {words}
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
  const words = isNow ? 'fill-on-accent font-semibold' : isVisited ? 'fill-accent font-medium' : 'fill-muted';
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
      <text x={x} y={y + 4} textAnchor="middle" className={classes('text-[12px]', words)}>
        {state.replaceAll('_', ' ')}
      </text>
    </g>
  );
}
