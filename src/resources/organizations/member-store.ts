import type { ApplicationSettings } from '../../kernel/application-settings.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import type { Role } from '../../kernel/permissions.ts';
import type { Instant, Reader, Statement } from '../../kernel/table.ts';

/** A member with the person's name and email address. */
export interface KnownMember {
  readonly id: string;
  readonly personId: Id<'person'>;
  readonly name: string;
  readonly email: string;
  readonly hasTwoFactor: boolean;
  readonly role: Role;
  readonly createdAt: Instant;
}

const knownMembers: Statement = {
  name: 'members_known',
  text: `select m.id, m.person_id as "personId", p.name, p.email, p.two_factor_enabled as "hasTwoFactor", m.role,
      m.created_at as "createdAt"
    from members m join persons p on p.id = m.person_id
    where m.org_id = $1 and m.status = 'active' order by m.created_at, m.id limit $2`,
};

export function findMembers(
  reader: Pick<Reader, 'rows'>,
  orgId: Id<'organization'>,
  limit: number,
): PromiseLike<readonly KnownMember[]> {
  return reader.rows<KnownMember>(knownMembers, [orgId, limit]);
}

export interface Membership {
  readonly orgId: Id<'organization'>;
  readonly orgName: string;
  readonly role: Role;
  /** Whether the organization requires a second factor of its members. */
  readonly requiresTwoFactor: boolean;
}

const membershipsOf: Statement = {
  name: 'memberships_of_person',
  text: `select m.org_id as "orgId", o.name as "orgName", m.role, o.requires_two_factor as "requiresTwoFactor"
    from members m join organizations o on o.org_id = m.org_id and o.id = m.org_id
    where m.person_id = $1 and m.status = 'active' order by o.name, m.org_id limit 200`,
};

/** All organizations of a person. */
export function findMemberships(
  reader: Pick<Reader, 'rows'>,
  personId: Id<'person'>,
): PromiseLike<readonly Membership[]> {
  return reader.rows<Membership>(membershipsOf, [personId]);
}

/** Whether a person may create an organization: where sign-up is closed, only people who already own one may. */
export async function mayCreateOrganization(
  reader: Pick<Reader, 'rows'>,
  personId: Id<'person'>,
  isSignUpOpen: boolean,
): Promise<boolean> {
  return isSignUpOpen || (await findMemberships(reader, personId)).some(({ role }) => role === 'owner');
}

const ownedBy: Statement = {
  name: 'organizations_owned_by_person',
  text: `select count(*)::integer as owned from (
    select from members m where m.person_id = $1 and m.status = 'active' and m.role = 'owner'
    limit ${limits.organizationsPerPersonMax}) m`,
};

/** Refuses a person who already owns the maximum number of organizations. */
export async function refuseTooManyOrganizations(
  reader: Pick<Reader, 'rows'>,
  personId: Id<'person'>,
): Promise<Refusal | undefined> {
  const [row] = await reader.rows<{ owned: number }>(ownedBy, [personId]);
  const max = limits.organizationsPerPersonMax;
  return (row?.owned ?? 0) < max
    ? undefined
    : refuse('limit_reached', {
        message: `You own ${max} organizations, which is the maximum for one person.`,
        details: { max },
      });
}

/** A person's membership in one organization, with the requested application. */
export interface MemberContext extends Membership {
  /** Null when the organization has no such application. */
  readonly appId: Id<'application'> | null;
  readonly appName: string | null;
  readonly isArchived: boolean;
  readonly settings: ApplicationSettings | null;
}

const memberContext: Statement = {
  name: 'member_place',
  text: `select m.org_id as "orgId", o.name as "orgName", m.role, o.requires_two_factor as "requiresTwoFactor", a.id as "appId", a.name as "appName",
      coalesce(a.status = 'archived', false) as "isArchived",
      a.fee_basis_points as "feeBasisPoints", a.fee_fixed as "feeFixed", a.provider,
      a.fx_margin_basis_points as "fxMarginBasisPoints", a.fx_rates as "fxRates", a.webhook_defaults as "webhookDefaults"
    from members m
    join organizations o on o.org_id = m.org_id and o.id = m.org_id
    left join applications a on a.org_id = m.org_id and a.id = $3
    where m.org_id = $1 and m.id = $2 and m.status = 'active'`,
};

/** Undefined when the person is not a member: the caller then reports the organization as not found. */
export async function findMemberContext(
  reader: Pick<Reader, 'rows'>,
  orgId: Id<'organization'>,
  memberId: Id<'member'>,
  appId: Id<'application'>,
): Promise<MemberContext | undefined> {
  const [row] = await reader.rows<Omit<MemberContext, 'settings'> & ApplicationSettings>(memberContext, [
    orgId,
    memberId,
    appId,
  ]);
  if (!row) return undefined;
  const { orgName, role, requiresTwoFactor, appName, isArchived } = row;
  const { feeBasisPoints, feeFixed, provider, fxMarginBasisPoints, fxRates, webhookDefaults } = row;
  const settings = { feeBasisPoints, feeFixed, provider, fxMarginBasisPoints, fxRates, webhookDefaults };
  return {
    ...{ orgId, orgName, role, requiresTwoFactor, appName, isArchived },
    appId: row.appId,
    settings: row.appId === null ? null : settings,
  };
}

const roleOfSession: Statement = {
  name: 'member_role_of_session',
  text: `select m.role from members m join person_sessions s on s.person_id = m.person_id
    join organizations o on o.org_id = m.org_id and o.id = m.org_id join persons p on p.id = m.person_id
    where m.org_id = $1 and m.id = $2 and m.status = 'active' and s.id = $3 and s.expires_at > $4
      and (p.two_factor_enabled or not o.requires_two_factor)`,
};

/** The role of a member while their session is valid and has access to the organization; otherwise undefined. */
export async function findRoleOfSession(
  reader: Pick<Reader, 'rows'>,
  orgId: Id<'organization'>,
  memberId: Id<'member'>,
  sessionId: string,
  now: Instant,
): Promise<Role | undefined> {
  const values = [orgId, memberId, sessionId, new Date(now)];
  return (await reader.rows<{ role: Role }>(roleOfSession, values))[0]?.role;
}
