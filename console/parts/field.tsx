import { Check, ChevronDown, Eye, EyeOff } from 'lucide-react';
import { Checkbox as RadixCheckbox, Switch as RadixSwitch } from 'radix-ui';
import {
  createContext,
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useContext,
  useId,
  useState,
} from 'react';
import { useMissing } from './form.tsx';
import { useFieldProblem } from './form-problem.tsx';
import { Prose } from './prose.tsx';
import { classes } from './text.ts';

/** Gives a control its id, description and error state. */
const FieldContext = createContext<{
  id: string;
  describedBy: string | undefined;
  isInvalid: boolean;
} | null>(null);

export interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  /**
   * The part of the request body that the field sends, such as `amount` or `beneficiary.name`: the field shows the server's errors about
   * it. Null for a control that sends nothing.
   */
  readonly param: string | null;
  /** Shown below the control; takes precedence over the server's error. */
  readonly error?: string | undefined;
  /** Why the form cannot be submitted: the field is empty or invalid. Shown from the first submit on. */
  readonly missing?: string | undefined;
  readonly isOptional?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}

/** The server's error about a group of controls without a `Field`. */
export function FieldProblem({ param, label }: { readonly param: string; readonly label: string }) {
  const message = useFieldProblem(param, label);
  if (message === undefined) return null;
  return (
    <p role="alert" className="text-sm text-bad">
      <Prose text={message} />
    </p>
  );
}

/** Label, control, hint and error, connected with ids. */
export function Field(props: FieldProps) {
  const { label, hint, param, error, missing, isOptional, className, children } = props;
  const id = useId();
  const shownMissing = useMissing(missing);
  const problem = useFieldProblem(param, label);
  const message = error ?? shownMissing ?? problem;
  const describedBy = classes(message && `${id}-error`, hint !== undefined && `${id}-hint`) || undefined;
  return (
    <div className={classes('flex flex-col gap-1', className)}>
      <label htmlFor={id} className="text-sm font-medium text-ink">
        {label}
        {isOptional ? <span className="font-normal text-faint"> (optional)</span> : null}
      </label>
      <FieldContext value={{ id, describedBy, isInvalid: message !== undefined }}>{children}</FieldContext>
      {message === undefined ? null : (
        <p id={`${id}-error`} className="text-sm text-bad">
          <Prose text={message} />
        </p>
      )}
      {hint === undefined ? null : (
        <p id={`${id}-hint`} className="text-sm text-muted">
          <Prose text={hint} />
        </p>
      )}
    </div>
  );
}

function useFieldProps() {
  const field = useContext(FieldContext);
  if (field === null) return {};
  return {
    id: field.id,
    'aria-describedby': field.describedBy,
    'aria-invalid': field.isInvalid || undefined,
  };
}

export interface InputProps extends InputHTMLAttributes<HTMLInputElement> {
  /** For ids, amounts and codes. */
  readonly isMono?: boolean;
  readonly ref?: Ref<HTMLInputElement>;
}

export function Input({ isMono, className, ...rest }: InputProps) {
  return (
    <input {...useFieldProps()} {...rest} className={classes('control', isMono && 'font-mono', className)} />
  );
}

/** A password input with a button that reveals it. */
export function PasswordInput(props: InputProps) {
  const [isShown, setShown] = useState(false);
  return (
    <div className="relative">
      <Input {...props} type={isShown ? 'text' : 'password'} className="pr-10" spellCheck={false} />
      <button
        type="button"
        aria-label={isShown ? 'Hide password' : 'Show password'}
        onClick={() => setShown(!isShown)}
        className="absolute inset-y-0 right-0 flex w-9 items-center justify-center rounded-md text-muted hover:text-ink"
      >
        {isShown ? <EyeOff aria-hidden size={16} /> : <Eye aria-hidden size={16} />}
      </button>
    </div>
  );
}

export function Textarea({ className, ...rest }: TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return <textarea rows={3} {...useFieldProps()} {...rest} className={classes('control', className)} />;
}

export interface SelectProps extends SelectHTMLAttributes<HTMLSelectElement> {
  /** Value and label; a string is both. */
  readonly options: readonly (string | { readonly value: string; readonly label: string })[];
  /** An empty first choice, such as 'Any status'. */
  readonly empty?: string;
}

/** The native select: it works on every phone and needs no runtime styles. */
export function Select({ options, empty, className, ...rest }: SelectProps) {
  return (
    <div className={classes('relative', className)}>
      <select {...useFieldProps()} {...rest} className="control appearance-none truncate pr-8">
        {empty === undefined ? null : <option value="">{empty}</option>}
        {options.map((option) => {
          const { value, label } = typeof option === 'string' ? { value: option, label: option } : option;
          return (
            <option key={value} value={value}>
              {label}
            </option>
          );
        })}
      </select>
      <ChevronDown
        aria-hidden
        size={15}
        className="pointer-events-none absolute inset-y-0 right-2.5 my-auto text-muted"
      />
    </div>
  );
}

export interface ToggleProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly disabled?: boolean;
}

export function Checkbox({ label, hint, isOn, onChange, disabled = false }: ToggleProps) {
  const id = useId();
  return (
    <div className="flex items-start gap-2">
      <RadixCheckbox.Root
        id={id}
        checked={isOn}
        disabled={disabled}
        onCheckedChange={(state) => onChange(state === true)}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        className="mt-[3px] flex size-4 shrink-0 items-center justify-center rounded-sm border border-line-strong bg-surface text-on-accent disabled:opacity-60 data-[state=checked]:border-accent data-[state=checked]:bg-accent"
      >
        <RadixCheckbox.Indicator>
          <Check aria-hidden size={12} strokeWidth={3} />
        </RadixCheckbox.Indicator>
      </RadixCheckbox.Root>
      <ToggleLabel id={id} label={label} hint={hint} />
    </div>
  );
}

export function Switch({ label, hint, isOn, onChange, disabled = false }: ToggleProps) {
  const id = useId();
  return (
    <div className="flex items-start gap-2.5">
      <RadixSwitch.Root
        id={id}
        checked={isOn}
        disabled={disabled}
        onCheckedChange={onChange}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        className="mt-0.5 h-[1.125rem] w-8 shrink-0 rounded-full border border-line-strong bg-sunken p-px transition-colors disabled:opacity-60 data-[state=checked]:border-accent data-[state=checked]:bg-accent"
      >
        <RadixSwitch.Thumb className="block size-3.5 rounded-full bg-muted transition-transform data-[state=checked]:translate-x-3.5 data-[state=checked]:bg-on-accent" />
      </RadixSwitch.Root>
      <ToggleLabel id={id} label={label} hint={hint} />
    </div>
  );
}

function ToggleLabel({
  id,
  label,
  hint,
}: {
  readonly id: string;
  readonly label: ReactNode;
  readonly hint: ReactNode;
}) {
  return (
    <div>
      <label htmlFor={id}>{label}</label>
      {hint === undefined ? null : (
        <p id={`${id}-hint`} className="text-sm text-muted">
          <Prose text={hint} />
        </p>
      )}
    </div>
  );
}
