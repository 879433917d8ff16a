import { Navigate, useLocation } from '@tanstack/react-router';
import { type ReactNode, Suspense, useState } from 'react';
import type { Session } from '../generated/shapes.ts';
import { lazyPart } from '../parts/lazy-part.ts';
import { SessionContext, useSession } from './session.tsx';

const SessionEnded = lazyPart(() => import('../pages/account/session-ended.tsx'));

/**
 * Renders its children for a signed-in person; others sign in and then return to this page. If the session ends while the page is
 * open, the page stays as it is and the person signs in over it, so that a half-filled form is not lost.
 */
export function RequirePerson({ children }: { readonly children: ReactNode }) {
  const session = useSession();
  const [last, setLast] = useState<Session | null>(null);
  const [dismissed, setDismissed] = useState<Session | null>(null);
  if (session.person !== null && session !== last) setLast(session);
  if (session.person === null && last === null) return <RedirectToSignIn />;
  // Dismissed until the next request fails: the person may want to copy the input first.
  const hasEnded = session.person === null && session !== dismissed;
  return (
    <SessionContext value={session.person === null ? last : session}>
      {children}
      {hasEnded && last?.person ? (
        <Suspense>
          <SessionEnded person={last.person} onClose={() => setDismissed(session)} />
        </Suspense>
      ) : null}
    </SessionContext>
  );
}

function RedirectToSignIn() {
  const here = useLocation({ select: (location) => location.href });
  // State keeps the value of the first render: during the redirect, `here` is already the sign-in page.
  const [next] = useState(here);
  return <Navigate to="/sign-in" search={{ next }} replace />;
}
