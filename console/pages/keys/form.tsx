import { useLimits } from '../../client/capabilities.ts';
import type { ApiProblem } from '../../client/request.ts';
import { useAllowed } from '../../frame/session.tsx';
import { Checkbox, Field, Input, isAbout, Textarea } from '../../parts/field.tsx';
import { type KeyDraft, missingIn } from './draft.ts';
import { ExpiryField } from './expiry.tsx';
import { ScopesField } from './scopes.tsx';

/** The form fields that a server error may refer to. */
export const params = ['name', 'scopes', 'expiresAt', 'allowedCidrs'];

export interface KeyFieldsProps {
  readonly draft: KeyDraft;
  readonly onChange: (draft: KeyDraft) => void;
  readonly problem: ApiProblem | null;
}

export function KeyFields({ draft, onChange, problem }: KeyFieldsProps) {
  const change = (part: Partial<KeyDraft>) => onChange({ ...draft, ...part });
  const missing = missingIn(draft);
  const isAdmin = useAllowed('admin');
  const limits = useLimits();
  const scopeError = isAbout(problem, 'scopes') ? problem?.message : undefined;
  return (
    <>
      <Field
        label="Name"
        hint="Where it is used, for example ‘Checkout server’."
        missing={missing.name}
        problem={problem}
        param="name"
      >
        <Input
          required
          maxLength={limits.nameLengthMax}
          autoComplete="off"
          value={draft.name}
          onChange={(event) => change({ name: event.currentTarget.value })}
        />
      </Field>
      <ScopesField
        scopes={draft.scopes}
        onChange={(scopes) => change({ scopes })}
        error={scopeError}
        missing={missing.scopes}
      />
      <Checkbox
        label="May reset the organization"
        hint={
          isAdmin
            ? 'Lets the key delete all records of all applications. It also needs all write scopes.'
            : 'Requires the admin or owner role.'
        }
        isOn={draft.mayReset}
        onChange={(mayReset) => change({ mayReset })}
        disabled={!isAdmin}
      />
      <ExpiryField
        expiresAt={draft.expiresAt}
        onChange={(expiresAt) => change({ expiresAt })}
        missing={missing.expiresAt}
        problem={problem}
      />
      <Field
        label="Allowed networks"
        isOptional
        hint="One per line: an address, or a network such as 10.0.0.0/8. Without any, the key works from every address."
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
