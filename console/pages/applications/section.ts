import type { Draft, FieldErrors } from './draft.ts';

/** Props of every settings section. */
export interface SectionProps {
  readonly draft: Draft;
  readonly errors: FieldErrors;
  readonly onChange: (part: Partial<Draft>) => void;
}
