import { refuse } from '../kernel/errors.ts';
import type { Id } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';
import type { BetterAuth } from './better-auth.ts';
import { type Attempt, callBetterAuth, type Outcome } from './call-better-auth.ts';
import { addressHeader } from './constants.ts';
import { withDatabaseFailures } from './dialect.ts';

/** The client of a console request: address, user agent and cookies. */
export interface Visitor {
  readonly address: string;
  readonly agent: string | undefined;
  readonly cookies: string | undefined;
}

export interface Person {
  readonly id: Id<'person'>;
  readonly email: string;
  readonly name: string;
  readonly hasTwoFactor: boolean;
}

export interface SignedIn {
  readonly person: Person;
  readonly sessionId: string;
}

export interface Device {
  readonly id: string;
  readonly createdAt: Instant;
  readonly lastSeenAt: Instant;
  readonly expiresAt: Instant;
  readonly address: string | null;
  readonly agent: string | null;
}

interface BetterAuthUser {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly twoFactorEnabled?: boolean | null | undefined;
}

/** Sessions and profile of the signed-in person. */
export class Sessions {
  readonly #open: () => Promise<BetterAuth>;
  #opened: Promise<BetterAuth> | undefined;

  constructor(open: () => Promise<BetterAuth>) {
    this.#open = open;
  }

  /** Loading the library takes half a second of CPU, so it is loaded at the first sign-in and not at the start. */
  protected betterAuth(): Promise<BetterAuth> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  /** The signed-in person. The check may extend the session, which sets a cookie. */
  async signedIn(visitor: Visitor): Promise<Outcome<SignedIn> | undefined> {
    if (visitor.cookies === undefined) return undefined;
    const { api } = await this.betterAuth();
    const { response, headers } = await withDatabaseFailures(() =>
      api.getSession({ headers: headersOf(visitor), returnHeaders: true }),
    );
    if (!response) return undefined;
    const value = { person: personOf(response.user), sessionId: response.session.id };
    return { ok: true, value, cookies: headers.getSetCookie() };
  }

  signOut(visitor: Visitor): Attempt<null> {
    return callBetterAuth(
      async () => (await this.betterAuth()).api.signOut({ headers: headersOf(visitor), returnHeaders: true }),
      () => null,
    );
  }

  rename(name: string, visitor: Visitor): Attempt<null> {
    return callBetterAuth(
      async () =>
        (await this.betterAuth()).api.updateUser({
          body: { name },
          headers: headersOf(visitor),
          returnHeaders: true,
        }),
      () => null,
    );
  }

  async devices(visitor: Visitor): Promise<readonly Device[]> {
    const { api } = await this.betterAuth();
    const sessions = await withDatabaseFailures(() => api.listSessions({ headers: headersOf(visitor) }));
    return sessions.map(({ id, createdAt, updatedAt, expiresAt, ipAddress, userAgent }) => ({
      id,
      createdAt: createdAt.getTime(),
      lastSeenAt: updatedAt.getTime(),
      expiresAt: expiresAt.getTime(),
      address: ipAddress ?? null,
      agent: userAgent ?? null,
    }));
  }

  async revokeDevice(id: string, visitor: Visitor): Attempt<null> {
    const headers = headersOf(visitor);
    const sessions = await (await this.betterAuth()).api.listSessions({ headers });
    const session = sessions.find((one) => one.id === id);
    if (!session) return refuse('resource_not_found');
    return callBetterAuth(
      async () =>
        (await this.betterAuth()).api.revokeSession({
          body: { token: session.token },
          headers,
          returnHeaders: true,
        }),
      () => null,
    );
  }

  revokeOthers(visitor: Visitor): Attempt<null> {
    return callBetterAuth(
      async () =>
        (await this.betterAuth()).api.revokeOtherSessions({
          headers: headersOf(visitor),
          returnHeaders: true,
        }),
      () => null,
    );
  }
}

export function personOf({ id, email, name, twoFactorEnabled }: BetterAuthUser): Person {
  // Better Auth types all ids as strings; we generate those of persons.
  return { id: id as Id<'person'>, email, name, hasTwoFactor: twoFactorEnabled ?? false };
}

export function headersOf({ address, agent, cookies }: Visitor): Headers {
  const headers = new Headers({ [addressHeader]: address });
  if (agent !== undefined) headers.set('user-agent', agent.slice(0, 500));
  if (cookies !== undefined) headers.set('cookie', cookies);
  return headers;
}
