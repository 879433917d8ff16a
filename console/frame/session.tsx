import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext } from 'react';
import { sessionQuery } from '../client/queries.ts';
import { post } from '../client/request.ts';
import { useScope } from '../client/scope.ts';
import type { Person, Role, Session } from '../generated/shapes.ts';
import { Button } from '../parts/button.tsx';
import { ProblemBanner } from '../parts/problem.tsx';
import { Skeleton } from '../parts/skeleton.tsx';

export const SessionContext = createContext<Session | null>(null);

/** Loads the session before rendering anything else. */
export function SessionProvider({ children }: { readonly children: ReactNode }) {
  const { data, error, refetch } = useQuery(sessionQuery);
  if (data !== undefined) return <SessionContext value={data}>{children}</SessionContext>;
  return (
    <div className="mx-auto max-w-md px-6 pt-24">
      {error ? (
        <ProblemBanner problem={error} onRetry={() => void refetch()} />
      ) : (
        <div role="status">
          <span className="sr-only">Loading</span>
          <Skeleton className="h-8 w-full" />
        </div>
      )}
    </div>
  );
}

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('useSession needs a SessionProvider above it.');
  return session;
}

/** The signed-in person; only below RequirePerson. */
export function usePerson(): Person {
  const { person } = useSession();
  if (person === null) throw new Error('usePerson needs RequirePerson above it.');
  return person;
}

export const sessionEnded = 'Your session ended. Sign in to continue.';

/** The cookie is missing or expired: clear the person, and RequirePerson asks to sign in. */
export function clearPerson(client: QueryClient): void {
  client.setQueryData<Session>(
    sessionQuery.queryKey,
    (session) => session && { ...session, person: null, organizations: [] },
  );
}

/** Stores the session from a sign-in, sign-up or invitation response. */
export function useSetSession(): (session: Session) => void {
  const client = useQueryClient();
  return (session) => client.setQueryData<Session>(sessionQuery.queryKey, session);
}

/** Ends the session and reloads the page, so that no data of this person remains for the next one. */
export async function signOut(to = '/console/sign-in'): Promise<void> {
  await post('session/sign_out', {}).catch(() => undefined);
  location.assign(to);
}

const ranks: Readonly<Record<Role, number>> = { viewer: 0, developer: 1, admin: 2, owner: 3 };

export function useRole(): Role {
  const { organizations } = useSession();
  const { orgId } = useScope();
  return organizations.find(({ id }) => id === orgId)?.role ?? 'viewer';
}

/** Whether the person's role is sufficient. The server enforces it; this only hides the controls. */
export function useAllowed(role: Role): boolean {
  return ranks[useRole()] >= ranks[role];
}

/** With registration closed, only owners create organizations. */
export function useMayCreateOrganization(): boolean {
  const { registration, organizations } = useSession();
  return registration === 'open' || organizations.some(({ role }) => role === 'owner');
}

export function SignOutButton({ to }: { readonly to?: string }) {
  return <Button onClick={() => void signOut(to)}>Sign out</Button>;
}
