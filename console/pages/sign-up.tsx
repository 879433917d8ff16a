import { RedirectToNext, useNext } from '../frame/next.tsx';
import { useSession, useSetSession } from '../frame/session.tsx';
import { StandalonePage } from '../frame/standalone-page.tsx';
import { Anchor } from '../parts/anchor.tsx';
import { SignUpForm } from './account/sign-up-form.tsx';

/** Registration, if the server allows it. */
export function SignUp() {
  const { person, registration } = useSession();
  const next = useNext();
  const setSession = useSetSession();
  if (person !== null) return <RedirectToNext />;
  const footer = (
    <>
      Have an account?{' '}
      <Anchor to="/sign-in" search={{ next }}>
        Sign in
      </Anchor>
    </>
  );
  if (registration === 'closed') {
    return (
      <StandalonePage title="Create an account" footer={footer}>
        <p className="text-muted">
          This server creates accounts by invitation only. Ask an admin of your organization for an invitation
          link.
        </p>
      </StandalonePage>
    );
  }
  return (
    <StandalonePage
      title="Create an account"
      description="A sandbox for payments, transfers and webhooks."
      footer={footer}
    >
      <SignUpForm onDone={setSession} />
    </StandalonePage>
  );
}
