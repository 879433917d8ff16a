import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { keys, useWrite } from '../client/queries.ts';
import { get, noScope, type Path } from '../client/request.ts';
import { useToken } from '../frame/params.ts';
import { SignOutButton, useSession, useSetSession } from '../frame/session.tsx';
import { StandalonePage } from '../frame/standalone-page.tsx';
import type { InvitationOffer, Session } from '../generated/shapes.ts';
import { Anchor } from '../parts/anchor.tsx';
import { Button } from '../parts/button.tsx';
import { ProblemBanner } from '../parts/problem.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Time } from '../parts/time.tsx';
import { SignUpForm } from './account/sign-up-form.tsx';

/** The page of an invitation link: join as the signed-in person, sign in, or create an account. */
export function Invitation() {
  const token = useToken();
  const path: Path = `session/invitations/${encodeURIComponent(token)}`;
  const { data, error: problem } = useQuery({
    queryKey: keys.read(path, noScope),
    queryFn: ({ signal }) => get<InvitationOffer>(path, {}, noScope, signal),
    // Accepting uses up the link and reloads the session: without `static` that would also request the used link again.
    staleTime: 'static',
    gcTime: 0,
  });
  if (problem) {
    return (
      <StandalonePage title="Invitation" footer={<Anchor to="/">Go to the console</Anchor>}>
        {problem.code === 'resource_not_found' ? (
          <p className="text-muted">
            This invitation is unknown, used or expired. Ask the person who sent it for a new link.
          </p>
        ) : (
          <ProblemBanner problem={problem} />
        )}
      </StandalonePage>
    );
  }
  if (data === undefined) {
    return (
      <StandalonePage title="Invitation">
        <Skeleton className="h-24 w-full" />
      </StandalonePage>
    );
  }
  return <Offer token={token} offer={data} />;
}

function Offer({ token, offer }: { readonly token: string; readonly offer: InvitationOffer }) {
  const { person, organizations } = useSession();
  const setSession = useSetSession();
  const navigate = useNavigate();
  const enter = (session: Session) => {
    setSession(session);
    // Prefer the organization that was not in the session before. An existing member is matched by name, which may not be unique.
    const isKnown = (id: string) => organizations.some((one) => one.id === id);
    const joined =
      session.organizations.find(({ id }) => !isKnown(id)) ??
      session.organizations.find(({ name }) => name === offer.organizationName);
    void navigate({ to: joined ? `/${joined.id}` : '/' });
  };
  const accept = useWrite<Session>(`session/invitations/${encodeURIComponent(token)}/accept`, {
    onDone: enter,
  });
  const description = (
    <>
      You are invited as {offer.role}. The invitation expires{' '}
      <Time at={offer.expiresAt} kind="wall" show="relative" mayBeAhead />.
    </>
  );
  if (person !== null) {
    const isOther = offer.email !== null && offer.email !== person.email;
    return (
      <StandalonePage title={`Join ${offer.organizationName}`} description={description}>
        <div className="flex flex-col gap-4">
          {accept.problem ? <ProblemBanner problem={accept.problem} /> : null}
          <p>
            You are signed in as <strong className="font-semibold">{person.email}</strong>.
            {isOther
              ? ` The invitation is for ${offer.email}: sign out, then continue with that address.`
              : ''}
          </p>
          {isOther ? null : (
            <Button variant="primary" isBusy={accept.isBusy} onClick={() => void accept.write({})}>
              Join the organization
            </Button>
          )}
          <SignOutButton to={location.pathname} />
        </div>
      </StandalonePage>
    );
  }
  return (
    <StandalonePage
      title={`Join ${offer.organizationName}`}
      description={description}
      footer={
        <>
          Have an account?{' '}
          <Anchor to="/sign-in" search={{ next: `/invitation/${token}` }}>
            Sign in
          </Anchor>
        </>
      }
    >
      <SignUpForm invitation={token} email={offer.email} onDone={enter} />
    </StandalonePage>
  );
}
