import type { Role } from '../../generated/shapes.ts';
import { valuesOf } from '../../parts/options.ts';
import { sentenceCase } from '../../parts/text.ts';
import { RadioCards } from '../radio-cards.tsx';

const roleDescriptions: Readonly<Record<Role, string>> = {
  viewer: 'Views everything and changes nothing.',
  developer: 'Views everything, and creates records, applications, API keys and webhooks.',
  admin: 'A developer who also invites and removes members and archives applications.',
  owner: 'An admin who also appoints other owners and resets passwords.',
};
const roles = valuesOf(roleDescriptions);

export function roleDescription(role: Role): string {
  return roleDescriptions[role];
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
      param="role"
      value={role}
      options={roles.map((value) => {
        const hint = roleDescriptions[value];
        const isDisabled = value === 'owner' && ownRole !== 'owner';
        return {
          value,
          label: sentenceCase(value),
          hint: isDisabled ? `${hint} Requires the owner role.` : hint,
          isDisabled,
        };
      })}
      onChange={(value) => {
        const chosen = roles.find((name) => name === value);
        if (chosen) onChange(chosen);
      }}
    />
  );
}
