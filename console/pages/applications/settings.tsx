import { type FormEvent, useState } from 'react';
import { useLimits } from '../../client/capabilities.ts';
import { useWrite } from '../../client/queries.ts';
import type { Application } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Field, Input } from '../../parts/field.tsx';
import { useInvalidFocus } from '../../parts/focus-invalid-field.ts';
import { FormProblem, FormProblemBanner } from '../../parts/form-problem.tsx';
import { useToast } from '../../parts/toast.tsx';
import { type Draft, draftOf, fieldErrors, type Patch, patchOf } from './draft.ts';
import { FeeSection } from './fee.tsx';
import { UnsavedGuard } from './guard.tsx';
import { ProviderSection } from './provider.tsx';
import { FxSection } from './rates.tsx';
import type { SectionProps } from './section.ts';
import { WebhookSection } from './webhook-defaults.tsx';

export interface SettingsProps {
  readonly application: Application;
  /** For viewers and for archived applications. */
  readonly isReadOnly: boolean;
}

/** One form for all settings. Its state holds only the edited fields, so that changes saved by others still appear. */
export function Settings({ application, isReadOnly }: SettingsProps) {
  const { toast } = useToast();
  const [edits, setEdits] = useState<Partial<Draft>>({});
  const [isSubmitted, setSubmitted] = useState(false);
  const save = useWrite<Application>(`org/applications/${application.id}/update`);
  const draft = { ...draftOf(application), ...edits };
  const patch = patchOf(application, draft);
  const errors = fieldErrors(draft, useLimits());
  const isValid = Object.keys(errors).length === 0;
  const isDirty = !isReadOnly && Object.keys(patch).length > 0;
  const { form, refuse } = useInvalidFocus(save.isBusy);
  const discard = () => {
    setEdits({});
    setSubmitted(false);
    save.reset();
  };
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!isDirty) return;
    if (!isValid) return refuse(() => setSubmitted(true));
    setSubmitted(true);
    if ((await save.write(patch)) === undefined) return;
    toast('Settings saved');
    discard();
  };
  const section: SectionProps = {
    draft,
    errors: isSubmitted ? errors : {},
    onChange: (part) => setEdits((before) => ({ ...before, ...part })),
  };
  return (
    <FormProblem problem={save.problem}>
      <form ref={form} onSubmit={(event) => void submit(event)} noValidate>
        <fieldset disabled={isReadOnly} className="flex min-w-0 flex-col gap-5">
          <legend className="sr-only">Settings</legend>
          <NameSection {...section} />
          <FeeSection {...section} />
          <ProviderSection {...section} />
          <FxSection {...section} />
          <WebhookSection {...section} />
        </fieldset>
        {isDirty ? (
          <SaveBar
            patch={patch}
            isBusy={save.isBusy}
            hasErrors={isSubmitted && !isValid}
            onDiscard={discard}
          />
        ) : null}
        <UnsavedGuard isDirty={isDirty} />
      </form>
    </FormProblem>
  );
}

function NameSection({ draft, errors, onChange }: SectionProps) {
  const limits = useLimits();
  return (
    <Card title="Name">
      <Field label="Application name" error={errors.name} param="name" className="max-w-md">
        <Input
          maxLength={limits.nameLengthMax}
          autoComplete="off"
          value={draft.name}
          onChange={(event) => onChange({ name: event.currentTarget.value })}
        />
      </Field>
    </Card>
  );
}

const groups: Readonly<Record<keyof Patch, string>> = {
  name: 'name',
  fee: 'fee',
  provider: 'provider',
  fx: 'exchange',
  webhookDefaults: 'webhook defaults',
};

interface SaveBarProps {
  readonly patch: Patch;
  readonly isBusy: boolean;
  readonly hasErrors: boolean;
  readonly onDiscard: () => void;
}

function SaveBar({ patch, isBusy, hasErrors, onDiscard }: SaveBarProps) {
  const changed = (Object.keys(patch) as (keyof Patch)[]).map((name) => groups[name]).join(', ');
  return (
    <div className="sticky bottom-3 z-20 mt-5 flex flex-col gap-2 rounded-lg border bg-raised px-4 py-3 shadow-pop">
      <FormProblemBanner />
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p role="status" className={hasErrors ? 'text-bad' : 'text-muted'}>
          {hasErrors ? 'Fix the marked fields first.' : `Unsaved changes: ${changed}.`}
        </p>
        <div className="flex gap-2">
          <Button onClick={onDiscard}>Discard</Button>
          <Button type="submit" variant="primary" isBusy={isBusy}>
            Save changes
          </Button>
        </div>
      </div>
    </div>
  );
}
