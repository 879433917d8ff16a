import { type FormEvent, useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import type { ApiProblem } from '../../client/request.ts';
import type { Application } from '../../client/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Field, Input, isAbout } from '../../parts/field.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { useToast } from '../../parts/toast.tsx';
import { focusFault } from '../fault.ts';
import { type Draft, draftOf, faultsOf, type Patch, patchOf } from './draft.ts';
import { FeeSection } from './fee.tsx';
import { UnsavedGuard } from './guard.tsx';
import { ProviderSection } from './provider.tsx';
import { FxSection } from './rates.tsx';
import type { SectionProps } from './section.ts';
import { WebhookSection } from './webhook-defaults.tsx';

export interface SettingsProps {
  readonly application: Application;
  /** Viewers look, and an archived application does not change. */
  readonly isReadOnly: boolean;
}

/** One form for all settings. It holds only what was edited, so that what others save meanwhile shows up beside it. */
export function Settings({ application, isReadOnly }: SettingsProps) {
  const { toast } = useToast();
  const [edits, setEdits] = useState<Partial<Draft>>({});
  const [isTried, setTried] = useState(false);
  const save = useWrite<Application>(`org/applications/${application.id}/update`);
  const draft = { ...draftOf(application), ...edits };
  const patch = patchOf(application, draft);
  const faults = faultsOf(draft);
  const isSound = Object.keys(faults).length === 0;
  const isDirty = !isReadOnly && Object.keys(patch).length > 0;
  const forget = () => {
    setEdits({});
    setTried(false);
    save.reset();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (!isDirty) return;
    if (!isSound || (await save.write(patch)) === undefined) return focusFault();
    toast('Settings saved');
    forget();
  };
  const section: SectionProps = {
    draft,
    faults: isTried ? faults : {},
    problem: save.problem,
    onChange: (part) => setEdits((before) => ({ ...before, ...part })),
  };
  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
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
          problem={unshown(save.problem)}
          isBusy={save.isBusy}
          isFaulty={isTried && !isSound}
          onDiscard={forget}
        />
      ) : null}
      <UnsavedGuard isDirty={isDirty} />
    </form>
  );
}

function NameSection({ draft, faults, problem, onChange }: SectionProps) {
  return (
    <Card title="Name">
      <Field label="Application name" error={faults.name} problem={problem} param="name" className="max-w-md">
        <Input
          maxLength={200}
          autoComplete="off"
          value={draft.name}
          onChange={(event) => onChange({ name: event.currentTarget.value })}
        />
      </Field>
    </Card>
  );
}

/** What no field shows by itself. */
function unshown(problem: ApiProblem | null): ApiProblem | null {
  const params = ['name', 'fee', 'fx', 'webhookDefaults'];
  return params.some((param) => isAbout(problem, param)) ? null : problem;
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
  readonly problem: ApiProblem | null;
  readonly isBusy: boolean;
  readonly isFaulty: boolean;
  readonly onDiscard: () => void;
}

function SaveBar({ patch, problem, isBusy, isFaulty, onDiscard }: SaveBarProps) {
  const changed = (Object.keys(patch) as (keyof Patch)[]).map((name) => groups[name]).join(', ');
  return (
    <div className="sticky bottom-3 z-20 mt-5 flex flex-col gap-2 rounded-lg border bg-raised px-4 py-3 shadow-pop">
      {problem ? <ProblemBanner problem={problem} /> : null}
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p role="status" className={isFaulty ? 'text-bad' : 'text-muted'}>
          {isFaulty ? 'Mend the marked fields first.' : `Not saved yet: ${changed}.`}
        </p>
        <div className="flex gap-2">
          <Button onClick={onDiscard}>Discard</Button>
          <Button type="submit" look="primary" isBusy={isBusy}>
            Save changes
          </Button>
        </div>
      </div>
    </div>
  );
}
