import type { Database } from '../db/database.ts';
import { refuse } from '../kernel/errors.ts';
import type { Instant } from '../kernel/table.ts';
import { type Asked, ask, type Outcome } from './ask.ts';
import { addressHeader, resetHours } from './figures.ts';
import type { Library } from './library.ts';
import { Tries } from './tries.ts';

export interface PeopleSettings {
  readonly database: Database;
  readonly secret: string;
  readonly isTls: boolean;
  readonly wallClock: () => Instant;
}

/** Where a request comes from, and what the browser brought along. */
export interface Visitor {
  readonly address: string;
  readonly agent: string | undefined;
  readonly cookies: string | undefined;
}

export interface Person {
  readonly id: string;
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

export interface SecondFactor {
  readonly uri: string;
  readonly backupCodes: readonly string[];
}

interface LibraryUser {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly twoFactorEnabled?: boolean | null | undefined;
}

/** The people who use the console: who they are, and how they prove it. What they may do is said by their memberships. */
export class People {
  readonly #open: () => Promise<Library>;
  #opened: Promise<Library> | undefined;
  readonly #tries: Tries;
  readonly #wallClock: () => Instant;
  readonly #tokens = new Map<string, string>();

  constructor({ database, secret, isTls, wallClock }: PeopleSettings) {
    this.#wallClock = wallClock;
    this.#tries = new Tries(database);
    const onResetToken = (email: string, token: string) => void this.#tokens.set(email, token);
    this.#open = async () => {
      const { createLibrary } = await import('./library.ts');
      return createLibrary({ database, secret, isTls, onResetToken });
    };
  }

  /** Reading the library takes half a second of a core: that is not for the start, and not for servers that nobody signs in to. */
  #library(): Promise<Library> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  /** Whoever is signed in. Looking may prolong the session, which the browser then must know. */
  async whoIs(visitor: Visitor): Promise<Outcome<SignedIn> | undefined> {
    if (visitor.cookies === undefined) return undefined;
    const { response, headers } = await (await this.#library()).api.getSession({
      headers: headersOf(visitor),
      returnHeaders: true,
    });
    if (!response) return undefined;
    const value = { person: personOf(response.user), sessionId: response.session.id };
    return { ok: true, value, cookies: headers.getSetCookie() };
  }

  async signUp(asked: { name: string; email: string; password: string }, visitor: Visitor): Asked<Person> {
    const crowded = await this.#tries.take(`sign-up ${asked.email}`, visitor.address, this.#wallClock());
    if (crowded) return crowded;
    try {
      return await ask(
        async () =>
          (await this.#library()).api.signUpEmail({
            body: asked,
            headers: headersOf(visitor),
            returnHeaders: true,
          }),
        ({ user }) => personOf(user),
      );
    } catch (error) {
      // Two at the same moment: the database let one of them in.
      if (await this.#find(asked.email)) return refuse('email_taken');
      throw error;
    }
  }

  /** A person with a second factor is not signed in yet: the answer is null. */
  async signIn(asked: { email: string; password: string }, visitor: Visitor): Asked<Person | null> {
    const { email, password } = asked;
    const crowded = await this.#tries.take(email, visitor.address, this.#wallClock());
    if (crowded) return crowded;
    const outcome = await ask(
      async () =>
        (await this.#library()).api.signInEmail({
          body: { email, password },
          headers: headersOf(visitor),
          returnHeaders: true,
        }),
      (response) => ('user' in response && response.user ? personOf(response.user) : null),
    );
    if (outcome.ok) await this.#tries.wasRight(email, visitor.address);
    return outcome;
  }

  async verifySecond(asked: { code: string } | { backupCode: string }, visitor: Visitor): Asked<Person> {
    // The library itself counts how often the codes of one sign-in are guessed; addresses are counted here.
    const crowded = await this.#tries.take(null, visitor.address, this.#wallClock());
    if (crowded) return crowded;
    const headers = headersOf(visitor);
    const { api } = await this.#library();
    const outcome = await ask(
      () =>
        'code' in asked
          ? api.verifyTOTP({ body: { code: asked.code }, headers, returnHeaders: true })
          : api.verifyBackupCode({ body: { code: asked.backupCode }, headers, returnHeaders: true }),
      ({ user }) => personOf(user),
      // A backup code that somebody else uses at this very moment has no code of its own.
      'two_factor_failed',
    );
    if (outcome.ok) await this.#tries.wasRight(null, visitor.address);
    return outcome;
  }

  signOut(visitor: Visitor): Asked<null> {
    return ask(
      async () => (await this.#library()).api.signOut({ headers: headersOf(visitor), returnHeaders: true }),
      () => null,
    );
  }

  rename(name: string, visitor: Visitor): Asked<null> {
    return ask(
      async () =>
        (await this.#library()).api.updateUser({
          body: { name },
          headers: headersOf(visitor),
          returnHeaders: true,
        }),
      () => null,
    );
  }

  /** All other sessions end: whoever had the old password shall not stay. */
  async changePassword(
    asked: { currentPassword: string; newPassword: string },
    person: Person,
    visitor: Visitor,
  ): Asked<null> {
    return this.#guarded(person, visitor, () =>
      ask(
        async () =>
          (await this.#library()).api.changePassword({
            body: { ...asked, revokeOtherSessions: true },
            headers: headersOf(visitor),
            returnHeaders: true,
          }),
        () => null,
      ),
    );
  }

  async devices(visitor: Visitor): Promise<readonly Device[]> {
    const sessions = await (await this.#library()).api.listSessions({ headers: headersOf(visitor) });
    return sessions.map(({ id, createdAt, updatedAt, expiresAt, ipAddress, userAgent }) => ({
      id,
      createdAt: createdAt.getTime(),
      lastSeenAt: updatedAt.getTime(),
      expiresAt: expiresAt.getTime(),
      address: ipAddress ?? null,
      agent: userAgent ?? null,
    }));
  }

  async revokeDevice(id: string, visitor: Visitor): Asked<null> {
    const headers = headersOf(visitor);
    const sessions = await (await this.#library()).api.listSessions({ headers });
    const session = sessions.find((one) => one.id === id);
    if (!session) return refuse('resource_not_found');
    return ask(
      async () =>
        (await this.#library()).api.revokeSession({
          body: { token: session.token },
          headers,
          returnHeaders: true,
        }),
      () => null,
    );
  }

  revokeOthers(visitor: Visitor): Asked<null> {
    return ask(
      async () =>
        (await this.#library()).api.revokeOtherSessions({ headers: headersOf(visitor), returnHeaders: true }),
      () => null,
    );
  }

  enableTwoFactor(password: string, person: Person, visitor: Visitor): Asked<SecondFactor> {
    return this.#guarded(person, visitor, () =>
      ask(
        async () =>
          (await this.#library()).api.enableTwoFactor({
            body: { password, method: 'totp' },
            headers: headersOf(visitor),
            returnHeaders: true,
          }),
        (response) => ({
          uri: 'totpURI' in response ? String(response.totpURI) : '',
          backupCodes: 'backupCodes' in response ? (response.backupCodes as string[]) : [],
        }),
      ),
    );
  }

  disableTwoFactor(password: string, person: Person, visitor: Visitor): Asked<null> {
    return this.#guarded(person, visitor, () =>
      ask(
        async () =>
          (await this.#library()).api.disableTwoFactor({
            body: { password },
            headers: headersOf(visitor),
            returnHeaders: true,
          }),
        () => null,
      ),
    );
  }

  /** What the link with which a person chooses a new password carries; null when there is no such person. */
  async resetToken(email: string): Promise<{ readonly token: string; readonly expiresAt: Instant } | null> {
    const address = email.toLowerCase();
    const expiresAt = this.#wallClock() + resetHours * 3_600_000;
    await (await this.#library()).api.requestPasswordReset({ body: { email: address } });
    const token = this.#tokens.get(address);
    this.#tokens.delete(address);
    return token === undefined ? null : { token, expiresAt };
  }

  async resetPassword(asked: { token: string; newPassword: string }, visitor: Visitor): Asked<null> {
    const crowded = await this.#tries.take(null, visitor.address, this.#wallClock());
    if (crowded) return crowded;
    const outcome = await ask(
      async () => ({
        response: await (await this.#library()).api.resetPassword({ body: asked }),
        headers: new Headers(),
      }),
      () => null,
    );
    if (outcome.ok) await this.#tries.wasRight(null, visitor.address);
    return outcome;
  }

  /** For the seed file: the person of this address, made with the password when there is none. */
  async declare({ email, password }: { email: string; password: string }): Promise<string> {
    const { internalAdapter, password: passwords } = await (await this.#library()).$context;
    const address = email.toLowerCase();
    const found = await this.#find(address);
    if (found) return found;
    const hash = await passwords.hash(password);
    const name = address.slice(0, address.indexOf('@'));
    const made = await internalAdapter
      .createUser({ email: address, name, emailVerified: false }, { method: 'email-password' })
      .catch(async (error: unknown) => {
        // Another node starts with the same file at the same moment, and was first.
        const theirs = await this.#find(address);
        if (theirs) return null;
        throw error;
      });
    if (!made) return (await this.#find(address)) ?? '';
    await internalAdapter.linkAccount({
      ...{ userId: made.id, providerId: 'credential', accountId: made.id, password: hash },
    });
    return made.id;
  }

  async #find(email: string): Promise<string | undefined> {
    const { internalAdapter } = await (await this.#library()).$context;
    return (await internalAdapter.findUserByEmail(email))?.user.id;
  }

  async reap(): Promise<number> {
    return this.#tries.reap(this.#wallClock());
  }

  /** Who is signed in may not guess the password either. */
  async #guarded<Value>(person: Person, visitor: Visitor, work: () => Asked<Value>): Asked<Value> {
    const crowded = await this.#tries.take(person.email, visitor.address, this.#wallClock());
    if (crowded) return crowded;
    const outcome = await work();
    if (outcome.ok) await this.#tries.wasRight(person.email, visitor.address);
    return outcome;
  }
}

function personOf({ id, email, name, twoFactorEnabled }: LibraryUser): Person {
  return { id, email, name, hasTwoFactor: twoFactorEnabled ?? false };
}

function headersOf({ address, agent, cookies }: Visitor): Headers {
  const headers = new Headers({ [addressHeader]: address });
  if (agent !== undefined) headers.set('user-agent', agent.slice(0, 500));
  if (cookies !== undefined) headers.set('cookie', cookies);
  return headers;
}
