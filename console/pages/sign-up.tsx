import { Gate } from '../frame/gate.tsx';
import { GoOn, useNext } from '../frame/next.tsx';
import { useSession, useTakeSession } from '../frame/session.tsx';
import { Anchor } from '../parts/anchor.tsx';
import { SignUpForm } from './account/sign-up-form.tsx';

/** A new account, where the server lets anybody make one. */
export function SignUp() {
  const { person, registration } = useSession();
  const next = useNext();
  const take = useTakeSession();
  if (person !== null) return <GoOn />;
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
      <Gate title="Create an account" footer={footer}>
        <p className="text-muted">
          This server makes accounts by invitation only. Ask an admin of your organization for an invitation
          link.
        </p>
      </Gate>
    );
  }
  return (
    <Gate
      title="Create an account"
      description="A sandbox for payments, transfers and webhooks."
      footer={footer}
    >
      <SignUpForm onDone={take} />
    </Gate>
  );
}
