import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useId,
  useMemo,
  useState,
} from 'react';
import type { ApiProblem } from '../client/request.ts';
import { fieldMessage } from './field-message.ts';
import { ProblemBanner } from './problem.tsx';

interface ProblemState {
  readonly problem: ApiProblem | null;
  /** The `param` of the field that shows the problem; undefined if no field does. */
  readonly shownBy: string | undefined;
  /** Returns the function that removes the field. */
  readonly register: (fieldId: string, param: string) => () => void;
}

const ProblemContext = createContext<ProblemState | null>(null);

/** The path of a problem without its prefix: `/fee/basisPoints` -> `fee.basisPoints`. */
function pathOf(param: string): string {
  return param.replace(/^(body[./]|\/)/, '').replaceAll('/', '.');
}

/** The most specific of these params that the problem refers to: the field itself, or the object or list that it is in. */
export function paramShowing(
  problem: Pick<ApiProblem, 'param'> | null,
  params: readonly string[],
): string | undefined {
  if (problem?.param === undefined) return undefined;
  const path = pathOf(problem.param);
  return params
    .filter((param) => path === param || path.startsWith(`${param}.`))
    .sort((a, b) => b.length - a.length)[0];
}

export interface FormProblemProps {
  /** Why the server has refused the form. */
  readonly problem: ApiProblem | null;
  readonly children: ReactNode;
}

/**
 * Shows the error of a form once: at the field that it refers to, named by its label, or else in the form's banner. Every field
 * registers itself, so that a form has no list of its fields.
 */
export function FormProblem({ problem, children }: FormProblemProps) {
  const [params, setParams] = useState<ReadonlyMap<string, string>>(new Map());
  const register = useCallback((fieldId: string, param: string) => {
    setParams((known) => new Map(known).set(fieldId, param));
    return () => setParams((known) => new Map([...known].filter(([id]) => id !== fieldId)));
  }, []);
  const shownBy = paramShowing(problem, [...params.values()]);
  const state = useMemo(() => ({ problem, shownBy, register }), [problem, shownBy, register]);
  return <ProblemContext value={state}>{children}</ProblemContext>;
}

/** The message for the field of a param, if the form's error refers to it; a control that sends nothing has no param. */
export function useFieldProblem(param: string | null, label: string): string | undefined {
  const id = useId();
  const form = useContext(ProblemContext);
  const register = form?.register;
  useEffect(() => (param === null ? undefined : register?.(id, param)), [register, id, param]);
  if (!form?.problem || param === null || form.shownBy !== param) return undefined;
  return fieldMessage(form.problem, param, label);
}

/** The form's error, unless a field shows it. */
export function useProblemOutsideFields(): ApiProblem | null {
  const form = useContext(ProblemContext);
  return form === null || form.shownBy !== undefined ? null : form.problem;
}

/** The banner of a form, for an error that no field shows. */
export function FormProblemBanner() {
  const problem = useProblemOutsideFields();
  return problem ? <ProblemBanner problem={problem} /> : null;
}
