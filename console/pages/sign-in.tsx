import { useState } from 'react';
import { RedirectToNext, useNext } from '../frame/next.tsx';
import { sessionEnded, useSession, useSetSession } from '../frame/session.tsx';
import { StandalonePage } from '../frame/standalone-page.tsx';
import type { Session } from '../generated/shapes.ts';
import { Anchor } from '../parts/anchor.tsx';
import { Button } from '../parts/button.tsx';
import { CodeStep, PasswordStep } from './account/sign-in-form.tsx';

/** Email and password, then the second factor if the account has one. */
export function SignIn() {
  const { person, registration, hasEnded } = useSession();
  const next = useNext();
  const [needsCode, setNeedsCode] = useState(false);
  const setSession = useSetSession();
  if (person !== null) return <RedirectToNext />;
  const enter = (session: Session) => {
    if (session.status === 'two_factor_required') setNeedsCode(true);
    else setSession(session);
  };
  if (needsCode)
    return (
      <StandalonePage
        title="Two-factor code"
        footer={
          <Button variant="ghost" size="small" onClick={() => setNeedsCode(false)}>
            Sign in with another account
          </Button>
        }
      >
        <CodeStep onDone={enter} />
      </StandalonePage>
    );
  return (
    <StandalonePage
      title="Sign in"
      description={hasEnded ? sessionEnded : undefined}
      footer={
        registration === 'open' ? (
          <>
            New here?{' '}
            <Anchor to="/sign-up" search={{ next }}>
              Create an account
            </Anchor>
          </>
        ) : (
          'New accounts require an invitation.'
        )
      }
    >
      <PasswordStep onDone={enter} />
    </StandalonePage>
  );
}
