import type { Member, Role } from '../../generated/shapes.ts';
import { sentenceCase } from '../../parts/text.ts';
import { RadioCards } from '../radio-cards.tsx';

/** A member as listed by the server, with the two-factor state. */
export type ListedMember = Member & { readonly twoFactor: boolean };

const roleDescriptions: readonly (readonly [Role, string])[] = [
  ['viewer', 'Views everything and changes nothing.'],
  ['developer', 'Views everything, and creates records, applications, API keys and webhooks.'],
  ['admin', 'A developer who also invites and removes members and archives applications.'],
  ['owner', 'An admin who also appoints other owners and resets passwords.'],
];

export function roleDescription(role: Role): string {
  return roleDescriptions.find(([name]) => name === role)?.[1] ?? '';
}

export interface RoleFieldProps {
  readonly role: Role;
  /** The role of the person who selects: only owners create owners. */
  readonly ownRole: Role;
  readonly onChange: (role: Role) => void;
}

export function RoleField({ role, ownRole, onChange }: RoleFieldProps) {
  return (
    <RadioCards
      isLegendHidden
      legend="Role"
      value={role}
      options={roleDescriptions.map(([value, hint]) => {
        const isDisabled = value === 'owner' && ownRole !== 'owner';
        return {
          value,
          label: sentenceCase(value),
          hint: isDisabled ? `${hint} Requires the owner role.` : hint,
          isDisabled,
        };
      })}
      onChange={(value) => {
        const chosen = roleDescriptions.find(([name]) => name === value);
        if (chosen) onChange(chosen[0]);
      }}
    />
  );
}
