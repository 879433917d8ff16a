import type { ApiProblem } from '../../client/request.ts';
import type { Draft, Faults } from './draft.ts';

/** What every section of the settings is given. */
export interface SectionProps {
  readonly draft: Draft;
  readonly faults: Faults;
  readonly problem: ApiProblem | null;
  readonly onChange: (part: Partial<Draft>) => void;
}
