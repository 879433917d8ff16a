import type { Member, Role } from '../../client/shapes.ts';
import { sentence } from '../../parts/words.ts';
import { Choices } from '../choices.tsx';

/** The server tells two-factor sign-in of members too. */
export type ListedMember = Member & { readonly twoFactor: boolean };

const words: readonly (readonly [Role, string])[] = [
  ['viewer', 'Sees everything and changes nothing.'],
  ['developer', 'Sees everything, and makes records, applications, API keys and webhooks.'],
  ['admin', 'A developer who also invites and removes members and archives applications.'],
  ['owner', 'An admin who also makes other owners and resets passwords.'],
];

export function roleWords(role: Role): string {
  return words.find(([name]) => name === role)?.[1] ?? '';
}

export interface RoleChoicesProps {
  readonly role: Role;
  /** Of the person who chooses: only owners make owners. */
  readonly byRole: Role;
  readonly onChange: (role: Role) => void;
}

export function RoleChoices({ role, byRole, onChange }: RoleChoicesProps) {
  return (
    <Choices
      legend="Role"
      value={role}
      options={words.map(([value, hint]) => {
        const isDisabled = value === 'owner' && byRole !== 'owner';
        return {
          value,
          label: sentence(value),
          hint: isDisabled ? `${hint} Only an owner makes owners.` : hint,
          isDisabled,
        };
      })}
      onChange={(value) => {
        const chosen = words.find(([name]) => name === value);
        if (chosen) onChange(chosen[0]);
      }}
    />
  );
}
