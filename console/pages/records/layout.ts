import type { StateMachine } from '../../generated/shapes.ts';
import { type Edge, edgesOf } from './machine.ts';
import { layOutStates } from './state-graph.mjs';

interface Point {
  readonly x: number;
  readonly y: number;
}

/** The middle of a transition's label. */
export type Label = Point;

export interface DiagramLayout {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly (Point & { readonly state: string; readonly width: number })[];
  readonly edges: readonly (Edge & { readonly path: string; readonly label: Label })[];
}

export const nodeHeight = 30;
const letterWidth = 6.7;
const nodePadding = 20;
const lineHeight = 14;
const shiftsMax = 8;
const edgesWithNamesMax = 8;

/** Lays out the states from left to right. It depends on the machine only, so the picture is stable when a record changes. */
export function layOut(machine: StateMachine): DiagramLayout {
  const states = machine.states.map((name) => ({
    ...{ name, width: Math.round(name.length * letterWidth + nodePadding), height: nodeHeight },
  }));
  const edges = edgesOf(machine).filter(({ from, to }) => from !== to);
  // In a small machine the layout reserves room for labels; in a large one they are placed on the lines.
  const isSmall = edges.length <= edgesWithNamesMax;
  const arrows = edges.map((edge) => ({
    ...{
      edge,
      from: edge.from,
      to: edge.to,
      isMinor: machine.setbacks.includes(edge.to) || edge.isTriggered,
    },
    label: isSmall ? { width: edge.actions.join(', ').length * letterWidth, height: lineHeight } : null,
  }));
  const drawn = layOutStates(states, arrows, {
    ...{ direction: 'LR', stateGap: 16, rankGap: 52, heightOfLine: lineHeight },
  });
  return {
    width: drawn.width,
    height: drawn.height,
    nodes: drawn.nodes.map(({ name, x, y, width }) => ({ state: name, x, y, width })),
    edges: drawn.arrows.map(({ arrow, path, label }) => ({ ...arrow.edge, path, label })),
  };
}

/** Moves overlapping labels down, one line at a time. */
export function separateLabels<L extends Label & { readonly text: string }>(
  labels: readonly L[],
): readonly L[] {
  const done: L[] = [];
  for (const label of labels) {
    let moved = label;
    for (let step = 0; step < shiftsMax && done.some((other) => isCovering(other, moved)); step += 1) {
      moved = { ...moved, y: moved.y + lineHeight };
    }
    done.push(moved);
  }
  return done;
}

function isCovering(a: Label & { readonly text: string }, b: Label & { readonly text: string }): boolean {
  const room = ((a.text.length + b.text.length) / 2) * letterWidth;
  return Math.abs(a.y - b.y) < lineHeight && Math.abs(a.x - b.x) < room;
}
