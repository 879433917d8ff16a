import type { CoverageKind } from '../../client/shapes.ts';

interface KindWords {
  readonly many: string;
  /** When something of the kind counts as met. */
  readonly hint: string;
}

export const kindWords: Readonly<Record<CoverageKind, KindWords>> = {
  state: { many: 'States', hint: 'A record was in this state.' },
  move: { many: 'Moves', hint: 'A record made this move, by a key, a person, a timer or the clock.' },
  event: { many: 'Events', hint: 'An event of this type was made.' },
  operation: { many: 'Operations', hint: 'A key called it and was not refused.' },
  error: { many: 'Errors', hint: 'A key was refused with it.' },
};
