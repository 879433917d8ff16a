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
import { focusInvalidField } from './focus-invalid-field.ts';

interface FormState {
  /** From the first submit on, fields show what is missing. */
  readonly isSubmitted: boolean;
  readonly report: (fieldId: string, isInvalid: boolean) => void;
}

const FormContext = createContext<FormState | null>(null);

export interface FormProps {
  /** Called only if no field is invalid. */
  readonly onSubmit: () => void;
  /** When a write ends and the server has refused a field, that field gets the focus. */
  readonly isBusy?: boolean;
  readonly id?: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/**
 * The one behavior of all forms: the submit button is always enabled. A submit with an invalid field shows the errors and moves the
 * focus to the first of these fields.
 */
export function Form({ onSubmit, isBusy = false, id, className, children }: FormProps) {
  const invalid = useRef(new Set<string>());
  const [isSubmitted, setSubmitted] = useState(false);
  const state = useMemo<FormState>(
    () => ({
      isSubmitted,
      report: (fieldId, isInvalid) =>
        isInvalid ? invalid.current.add(fieldId) : invalid.current.delete(fieldId),
    }),
    [isSubmitted],
  );
  const wasBusy = useRef(false);
  useEffect(() => {
    if (wasBusy.current && !isBusy) focusInvalidField();
    wasBusy.current = isBusy;
  }, [isBusy]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    // A double submit has to wait for the first one.
    if (isBusy) return;
    setSubmitted(true);
    if (invalid.current.size > 0) return focusInvalidField();
    onSubmit();
  };
  return (
    <FormContext value={state}>
      <form id={id} onSubmit={submit} className={className} noValidate>
        {children}
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
  return form?.isSubmitted ? missing : undefined;
}
