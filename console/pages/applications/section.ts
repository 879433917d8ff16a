import type { ApiProblem } from '../../client/request.ts';
import type { Draft, FieldErrors } from './draft.ts';

/** Props of every settings section. */
export interface SectionProps {
  readonly draft: Draft;
  readonly errors: FieldErrors;
  readonly problem: ApiProblem | null;
  readonly onChange: (part: Partial<Draft>) => void;
}
