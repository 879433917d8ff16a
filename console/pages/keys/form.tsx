import { useLimits } from '../../client/capabilities.ts';
import { useAllowed } from '../../frame/session.tsx';
import { Checkbox, Field, Input, Textarea } from '../../parts/field.tsx';
import { type KeyDraft, missingIn } from './draft.ts';
import { ExpiryField } from './expiry.tsx';
import { ScopesField } from './scopes.tsx';

export interface KeyFieldsProps {
  readonly draft: KeyDraft;
  readonly onChange: (draft: KeyDraft) => void;
}

export function KeyFields({ draft, onChange }: KeyFieldsProps) {
  const change = (part: Partial<KeyDraft>) => onChange({ ...draft, ...part });
  const missing = missingIn(draft);
  const isAdmin = useAllowed('admin');
  const limits = useLimits();
  return (
    <>
      <Field
        label="Name"
        hint="Where it is used, for example ‘Checkout server’."
        missing={missing.name}
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
      <ScopesField scopes={draft.scopes} onChange={(scopes) => change({ scopes })} missing={missing.scopes} />
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
      />
      <Field
        label="Allowed networks"
        isOptional
        hint="One per line: an address, or a network such as 10.0.0.0/8. Without any, the key works from every address."
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
