import {
  createContext,
  type FormEvent,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { ApiProblem } from '../client/request.ts';
import { useInvalidFocus } from './focus-invalid-field.ts';
import { FormProblem } from './form-problem.tsx';

interface FormState {
  /** From an invalid submit until the next valid one, fields show what is missing. */
  readonly showsMissing: boolean;
  readonly report: (fieldId: string, isInvalid: boolean) => void;
}

const FormContext = createContext<FormState | null>(null);

export interface FormProps {
  /** Called only if no field is invalid. */
  readonly onSubmit: () => void;
  /** When a write ends and the server has refused a field, that field gets the focus. */
  readonly isBusy?: boolean;
  /** Why the server has refused the form: shown by the field that it refers to, or else by the `FormProblemBanner` among the children. */
  readonly problem?: ApiProblem | null;
  readonly id?: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/**
 * The one behavior of all forms: the submit button is always enabled. A submit with an invalid field shows the errors and moves the
 * focus to the first of these fields.
 */
export function Form({ onSubmit, isBusy = false, problem, id, className, children }: FormProps) {
  const invalid = useRef(new Set<string>());
  const [showsMissing, setShowsMissing] = useState(false);
  const state = useMemo<FormState>(
    () => ({
      showsMissing,
      report: (fieldId, isInvalid) =>
        isInvalid ? invalid.current.add(fieldId) : invalid.current.delete(fieldId),
    }),
    [showsMissing],
  );
  const { form, refuse } = useInvalidFocus(isBusy);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    // A double submit has to wait for the first one.
    if (isBusy) return;
    if (invalid.current.size > 0) return refuse(() => setShowsMissing(true));
    // A page may clear its fields after a valid submit, or show the next step in the same form.
    setShowsMissing(false);
    onSubmit();
  };
  return (
    <FormContext value={state}>
      <form ref={form} id={id} onSubmit={submit} className={className} noValidate>
        {problem === undefined ? children : <FormProblem problem={problem}>{children}</FormProblem>}
      </form>
    </FormContext>
  );
}

/**
 * Reports to the form that a control is missing or invalid, and returns the message to show: none before the first submit, because an empty
 * form should not begin with errors.
 */
export function useMissing(missing: string | undefined): string | undefined {
  const id = useId();
  const form = useContext(FormContext);
  const report = form?.report;
  const isMissing = missing !== undefined;
  useEffect(() => {
    report?.(id, isMissing);
    return () => report?.(id, false);
  }, [report, id, isMissing]);
  return form?.showsMissing ? missing : undefined;
}
