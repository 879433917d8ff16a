import { type ReactNode, useState } from 'react';
import { useLimits } from '../../client/capabilities.ts';
import type { ApiProblem, ApiRequest } from '../../client/request.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Input } from '../../parts/field.tsx';

export interface ConfirmNameProps {
  /** The name of the organization, which the person types. */
  readonly name: string;
  readonly title: string;
  readonly description: ReactNode;
  readonly submitLabel: string;
  readonly problem: ApiProblem | null;
  readonly isBusy: boolean;
  readonly onSubmit: (typed: string) => void;
  readonly onClose: () => void;
  readonly code?: ApiRequest;
  readonly codeNote?: string;
  /** More fields, above the name. */
  readonly children?: ReactNode;
}

/** Asks for the name of the organization before its records are deleted, so that nobody deletes those of another one. */
export function ConfirmName(props: ConfirmNameProps) {
  const {
    name,
    title,
    description,
    submitLabel,
    problem,
    isBusy,
    onSubmit,
    onClose,
    code,
    codeNote,
    children,
  } = props;
  const [typed, setTyped] = useState('');
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={title}
      description={description}
      submitLabel={submitLabel}
      onSubmit={() => onSubmit(typed)}
      isBusy={isBusy}
      isDanger
      problem={problem}
      code={code}
      codeNote={codeNote}
    >
      {children}
      <ConfirmNameField name={name} value={typed} onChange={setTyped} />
    </Dialog>
  );
}

export interface ConfirmNameFieldProps {
  readonly name: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function ConfirmNameField({ name, value, onChange }: ConfirmNameFieldProps) {
  return (
    <Field
      label={`Type ${name} to confirm`}
      missing={value === name ? undefined : `Type ${name} exactly as it is written here.`}
      param="name"
    >
      <Input
        required
        maxLength={useLimits().nameLengthMax}
        autoComplete="off"
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </Field>
  );
}
