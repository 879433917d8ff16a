import type { CoverageKind } from '../../generated/shapes.ts';

interface KindLabels {
  readonly plural: string;
  /** When an item of this kind counts as covered. */
  readonly hint: string;
}

export const kindLabels: Readonly<Record<CoverageKind, KindLabels>> = {
  state: { plural: 'States', hint: 'A record was in this state.' },
  move: { plural: 'Transitions', hint: 'A record went through this transition.' },
  event: { plural: 'Events', hint: 'An event of this type was created.' },
  operation: { plural: 'Operations', hint: 'A request with an API key succeeded.' },
  error: { plural: 'Errors', hint: 'A request with an API key received this error.' },
};
