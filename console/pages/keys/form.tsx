import { useState } from 'react';
import type { ApiProblem } from '../../client/request.ts';
import { useAllowed } from '../../frame/session.tsx';
import { Checkbox, Field, Input, isAbout, Textarea } from '../../parts/field.tsx';
import { focusFault } from '../fault.ts';
import { faultsOf, type KeyDraft } from './draft.ts';
import { ExpiryField } from './expiry.tsx';
import { ScopesField } from './scopes.tsx';

/** The draft with its faults, which are shown from the first try on. */
export function useKeyDraft(start: KeyDraft) {
  const [draft, setDraft] = useState(start);
  const [isTried, setTried] = useState(false);
  const faults = faultsOf(draft);
  return {
    draft,
    faults: isTried ? faults : {},
    change: (part: Partial<KeyDraft>) => setDraft((before) => ({ ...before, ...part })),
    /** Whether it can be sent; if not, the fields say why from now on. */
    check: () => {
      setTried(true);
      const isSound = Object.keys(faults).length === 0;
      if (!isSound) focusFault();
      return isSound;
    },
  };
}

/** What the fields do not show themselves. */
export function unshown(problem: ApiProblem | null): ApiProblem | null {
  const params = ['name', 'scopes', 'expiresAt', 'allowedCidrs'];
  return params.some((param) => isAbout(problem, param)) ? null : problem;
}

export interface KeyFieldsProps {
  readonly form: ReturnType<typeof useKeyDraft>;
  readonly problem: ApiProblem | null;
}

export function KeyFields({ form: { draft, faults, change }, problem }: KeyFieldsProps) {
  const isAdmin = useAllowed('admin');
  const scopeWords = isAbout(problem, 'scopes') ? problem?.message : undefined;
  return (
    <>
      <Field
        label="Name"
        hint="Where it is used, as ‘Checkout server’."
        error={faults.name}
        problem={problem}
        param="name"
      >
        <Input
          required
          maxLength={200}
          autoComplete="off"
          value={draft.name}
          onChange={(event) => change({ name: event.currentTarget.value })}
        />
      </Field>
      <ScopesField
        scopes={draft.scopes}
        onChange={(scopes) => change({ scopes })}
        error={faults.scopes ?? scopeWords}
      />
      <Checkbox
        label="May reset the organization"
        hint={
          isAdmin
            ? 'Lets the key delete all records of all applications. It also needs all write scopes.'
            : 'Only an owner or admin grants this.'
        }
        isOn={draft.mayReset}
        onChange={(mayReset) => change({ mayReset })}
        disabled={!isAdmin}
      />
      <ExpiryField
        expiresAt={draft.expiresAt}
        onChange={(expiresAt) => change({ expiresAt })}
        error={faults.expiresAt}
        problem={problem}
      />
      <Field
        label="Allowed networks"
        isOptional
        hint="One a line: an address, or a network such as 10.0.0.0/8. Without any, the key works from everywhere."
        problem={problem}
        param="allowedCidrs"
      >
        <Textarea
          rows={3}
          spellCheck={false}
          className="font-mono"
          value={draft.networks}
          onChange={(event) => change({ networks: event.currentTarget.value })}
        />
      </Field>
    </>
  );
}
