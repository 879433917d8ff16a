import { useNavigate } from '@tanstack/react-router';
import { useRead, useWrite } from '../client/queries.ts';
import type { InvitationOffer, Session } from '../client/shapes.ts';
import { Gate } from '../frame/gate.tsx';
import { useToken } from '../frame/params.ts';
import { SignOutButton, useSession, useTakeSession } from '../frame/session.tsx';
import { Anchor } from '../parts/anchor.tsx';
import { Button } from '../parts/button.tsx';
import { ProblemBanner } from '../parts/problem.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Time } from '../parts/time.tsx';
import { SignUpForm } from './account/sign-up-form.tsx';

/** An invitation link: join as the person signed in, or sign in, or make an account. */
export function Invitation() {
  const token = useToken();
  const { data, problem } = useRead<InvitationOffer>(`session/invitations/${encodeURIComponent(token)}`);
  // Once accepted, the link is gone when it is asked for again; what was offered stays shown until the next page is there.
  if (problem && data === undefined) {
    return (
      <Gate title="Invitation" footer={<Anchor to="/">Go to the console</Anchor>}>
        {problem.code === 'resource_not_found' ? (
          <p className="text-muted">
            This invitation is unknown, used or has ended. Ask the person who sent it for a new link.
          </p>
        ) : (
          <ProblemBanner problem={problem} />
        )}
      </Gate>
    );
  }
  if (data === undefined) {
    return (
      <Gate title="Invitation">
        <Skeleton className="h-24 w-full" />
      </Gate>
    );
  }
  return <Offer token={token} offer={data} />;
}

function Offer({ token, offer }: { readonly token: string; readonly offer: InvitationOffer }) {
  const { person, organizations } = useSession();
  const take = useTakeSession();
  const navigate = useNavigate();
  const enter = (session: Session) => {
    take(session);
    // The one that is new; who was a member already is known by the name alone, which two may share.
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
      You are invited as {offer.role}. The invitation ends <Time at={offer.expiresAt} kind="wall" />.
    </>
  );
  if (person !== null) {
    const isOther = offer.email !== null && offer.email !== person.email;
    return (
      <Gate title={`Join ${offer.organizationName}`} description={description}>
        <div className="flex flex-col gap-4">
          {accept.problem ? <ProblemBanner problem={accept.problem} /> : null}
          <p>
            You are signed in as <strong className="font-semibold">{person.email}</strong>.
            {isOther ? ` The invitation is for ${offer.email}: sign out, then go on with that address.` : ''}
          </p>
          {isOther ? null : (
            <Button look="primary" isBusy={accept.isBusy} onClick={() => void accept.write({})}>
              Join the organization
            </Button>
          )}
          <SignOutButton to={location.pathname} />
        </div>
      </Gate>
    );
  }
  return (
    <Gate
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
    </Gate>
  );
}
