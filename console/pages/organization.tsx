import { useState } from 'react';
import { type List, useRead } from '../client/queries.ts';
import { useAllowed, useMayCreateOrganization, usePerson, useRole } from '../frame/session.tsx';
import type { Application, Member, Organization as OrganizationRecord } from '../generated/shapes.ts';
import { Anchor } from '../parts/anchor.tsx';
import { Button, buttonClass } from '../parts/button.tsx';
import { ActionCard, Card } from '../parts/card.tsx';
import { IdText } from '../parts/copy-button.tsx';
import { KeyValue } from '../parts/key-value.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { ProblemBanner } from '../parts/problem.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { pluralize } from '../parts/text.ts';
import { Time } from '../parts/time.tsx';
import { LeaveOrganization } from './members/remove.tsx';
import { roleDescription } from './members/roles.tsx';
import { DeleteCard } from './organization/delete.tsx';
import { Rename } from './organization/rename.tsx';
import { ResetCard } from './organization/reset.tsx';
import { SecurityCard } from './organization/security.tsx';
import { SnapshotCard } from './organization/snapshot.tsx';

export function Organization() {
  const { data, problem, refresh } = useRead<OrganizationRecord>('org/organization');
  return (
    <>
      <PageHeader
        title="Organization"
        description="Your applications and the people who work on them."
        actions={
          <Anchor to="members" className={buttonClass()}>
            Members
          </Anchor>
        }
      />
      {problem && data === undefined ? <ProblemBanner problem={problem} onRetry={refresh} /> : null}
      {data === undefined && !problem ? (
        <div role="status" className="flex flex-col gap-5">
          <span className="sr-only">Loading</span>
          <Skeleton className="h-64 w-full" />
          <Skeleton className="h-28 w-full" />
        </div>
      ) : null}
      {data === undefined ? null : (
        <div className="flex flex-col gap-5">
          <General organization={data} />
          <SecurityCard isRequired={data.requiresTwoFactor} />
          <SnapshotCard name={data.name} />
          <ResetCard name={data.name} />
          <NewOrganizationCard />
          <Leave name={data.name} />
          <DeleteCard name={data.name} />
        </div>
      )}
    </>
  );
}

function General({ organization }: { readonly organization: OrganizationRecord }) {
  const { id, name, createdAt } = organization;
  const role = useRole();
  const isAdmin = useAllowed('admin');
  const members = useRead<List<Member>>('org/members').data;
  const applications = useRead<List<Application>>('org/applications', { limit: 100 }).data;
  return (
    <Card title="General">
      <div className="flex flex-col gap-5">
        {isAdmin ? <Rename key={name} name={name} /> : null}
        <KeyValue
          items={[
            ...(isAdmin ? [] : [['Name', name] as const]),
            ['Id', <IdText key="id" id={id} what="organization id" />],
            [
              'Your role',
              <span key="role" className="flex flex-wrap items-center gap-2">
                <StatusBadge status={role} />
                <span className="text-sm text-muted">{roleDescription(role)}</span>
              </span>,
            ],
            ['Members', members && <Anchor to="members">{pluralize(members.data.length, 'member')}</Anchor>],
            [
              'Applications',
              applications && <Anchor to="applications">{applicationCount(applications)}</Anchor>,
            ],
            ['Created', <Time key="created" at={createdAt} kind="wall" show="both" />],
          ]}
        />
      </div>
    </Card>
  );
}

function applicationCount({ data, hasMore }: List<Application>): string {
  if (hasMore) return `more than ${data.length} applications`;
  const archived = data.filter(({ status }) => status === 'archived').length;
  const text = pluralize(data.length, 'application');
  return archived === 0 ? text : `${text}, ${archived} archived`;
}

function NewOrganizationCard() {
  const mayCreate = useMayCreateOrganization();
  return (
    <ActionCard
      title="Another organization"
      description="Its applications and members are separate from these. You become its owner."
      action={
        <Anchor to="/welcome" search={{ new: '1' }} className={buttonClass()}>
          Create organization
        </Anchor>
      }
      obstacle={mayCreate ? undefined : 'On this server, only owners can create organizations.'}
    />
  );
}

function Leave({ name }: { readonly name: string }) {
  const [isConfirming, setConfirming] = useState(false);
  const person = usePerson();
  const role = useRole();
  const members = useRead<List<Member>>('org/members').data?.data;
  const membership = members?.find(({ personId }) => personId === person.id);
  const isLastOwner = role === 'owner' && members?.filter((one) => one.role === 'owner').length === 1;
  return (
    <>
      <ActionCard
        title="Leave"
        description="You lose all access to this organization. Its records stay."
        action={
          <Button disabled={membership === undefined} onClick={() => setConfirming(true)}>
            Leave organization…
          </Button>
        }
        obstacle={
          isLastOwner ? (
            <>
              You are its only owner, and an organization needs one. Make{' '}
              <Anchor to="members">another member</Anchor> an owner first.
            </>
          ) : undefined
        }
      />
      {isConfirming && membership ? (
        <LeaveOrganization
          memberId={membership.id}
          organizationName={name}
          onClose={() => setConfirming(false)}
        />
      ) : null}
    </>
  );
}
