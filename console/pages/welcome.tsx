import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useWrite } from '../client/queries.ts';
import { ScopeContext } from '../client/scope.ts';
import { SignOutButton, usePerson, useSession } from '../frame/session.tsx';
import { StandalonePage } from '../frame/standalone-page.tsx';
import type { Application, Organization } from '../generated/shapes.ts';
import { Anchor } from '../parts/anchor.tsx';
import { Button } from '../parts/button.tsx';
import { Field, Input } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { FormProblemBanner } from '../parts/form-problem.tsx';

/** The first steps: an organization, then its first application, then the quick start. */
export function Welcome() {
  const { organizations } = useSession();
  const search: { org?: string } = useSearch({ strict: false });
  const navigate = useNavigate();
  const organization = organizations.find(({ id }) => id === search.org);
  if (organization) return <ApplicationStep orgId={organization.id} name={organization.name} />;
  return (
    <OrganizationStep
      onDone={({ id }) => void navigate({ to: '.', search: { org: id } as never, replace: true })}
    />
  );
}

function OrganizationStep({ onDone }: { readonly onDone: (organization: Organization) => void }) {
  const person = usePerson();
  const { organizations } = useSession();
  const create = useWrite<Organization>('session/organizations', { onDone });
  const isFirst = organizations.length === 0;
  return (
    <StandalonePage
      title={isFirst ? `Welcome, ${person.name}` : 'New organization'}
      description="An organization holds your applications and the people who work on them."
      footer={isFirst ? <SignOutButton /> : <Anchor to="/">Back to the console</Anchor>}
    >
      <NameForm
        step={1}
        label="Organization name"
        placeholder="Acme"
        submit="Create organization"
        write={create}
      />
    </StandalonePage>
  );
}

function ApplicationStep({ orgId, name }: { readonly orgId: string; readonly name: string }) {
  const scope = useMemo(() => ({ orgId, appId: null }), [orgId]);
  return (
    <ScopeContext value={scope}>
      <StandalonePage
        title={`First application of ${name}`}
        description="An application has its own API keys, webhooks, settings and clock."
        footer={<Anchor to={`/${orgId}`}>Do this later</Anchor>}
      >
        <ApplicationForm orgId={orgId} />
      </StandalonePage>
    </ScopeContext>
  );
}

function ApplicationForm({ orgId }: { readonly orgId: string }) {
  const navigate = useNavigate();
  const create = useWrite<Application>('org/applications', {
    onDone: ({ id }) => void navigate({ to: `/${orgId}/start`, search: { app: id } as never }),
  });
  return (
    <NameForm
      step={2}
      label="Application name"
      placeholder="Web shop"
      submit="Create application"
      write={create}
    />
  );
}

interface NameFormProps {
  readonly step: number;
  readonly label: string;
  readonly placeholder: string;
  readonly submit: string;
  readonly write: ReturnType<typeof useWrite<unknown>>;
}

function NameForm({ step, label, placeholder, submit, write }: NameFormProps) {
  const { limits } = useSession();
  const [name, setName] = useState('');
  return (
    <Form
      onSubmit={() => void write.write({ name: name.trim() })}
      isBusy={write.isBusy}
      problem={write.problem}
      className="flex flex-col gap-4"
    >
      <p className="text-sm text-muted">Step {step} of 2</p>
      <FormProblemBanner />
      <Field label={label} missing={name.trim() === '' ? 'Enter a name.' : undefined} param="name">
        <Input
          required
          maxLength={limits.nameLengthMax}
          placeholder={placeholder}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      </Field>
      <Button type="submit" variant="primary" isBusy={write.isBusy}>
        {submit}
      </Button>
    </Form>
  );
}
