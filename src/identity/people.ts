import { type Refusal, refuse } from '../kernel/errors.ts';
import type { Id } from '../kernel/ids.ts';
import {
  createAccount,
  endEarlierSessions,
  endPendingSignIns,
  findAccount,
  findSessionIds,
  replaceEmail,
  takeOverAccount,
} from './accounts.ts';
import { type Attempt, callBetterAuth, refuseOverload } from './call-better-auth.ts';
import { type Ceremony, Passkeys } from './passkeys.ts';
import { hashPassword, isPassword, withTrustedHashing } from './password.ts';
import { refuseWeakPassword } from './password-rule.ts';
import { type ResetLink, ResetLinks } from './reset-links.ts';
import { removeExpired } from './retention.ts';
import { headersOf, type Person, type SignedIn, type Visitor } from './sessions.ts';
import { type PeopleSettings, SignIns, unlessFull } from './sign-ins.ts';

export type { Person, Visitor } from './sessions.ts';
export type { PeopleSettings } from './sign-ins.ts';

export interface DeclaredUser {
  readonly email: string;
  readonly password: string;
  /** Whether the seed takes over a self-registered account. */
  readonly takeOver?: boolean | undefined;
}

export interface SecondFactor {
  readonly uri: string;
  readonly backupCodes: readonly string[];
}

/** Console users and their accounts. Memberships define their permissions. */
export class People extends SignIns {
  readonly passkeys: Passkeys;
  readonly #links: ResetLinks;

  constructor(settings: PeopleSettings) {
    super(settings);
    this.#links = new ResetLinks(settings.database);
    this.passkeys = new Passkeys(() => this.betterAuth());
  }

  /** Ends all other sessions, pending sign-ins and known devices: the old password may have leaked. */
  async changePassword(
    passwords: { currentPassword: string; newPassword: string },
    person: Person,
    visitor: Visitor,
  ): Attempt<null> {
    const weakness = refuseWeakPassword(passwords.newPassword, person, '/newPassword');
    if (weakness) return weakness;
    const outcome = await this.guarded(person, visitor, () =>
      callBetterAuth(
        async () =>
          (await this.betterAuth()).api.changePassword({
            body: { ...passwords, revokeOtherSessions: true },
            headers: headersOf(visitor),
            returnHeaders: true,
          }),
        () => person,
      ),
    );
    if (!outcome.ok) return outcome;
    await endPendingSignIns(this.database, person.id);
    return { ...(await this.remembered(outcome, visitor)), value: null };
  }

  /** The code of a new second factor. It replaces the session, and ends the others, which began with the password alone. */
  async confirmTwoFactor(code: string, person: Person, visitor: Visitor): Attempt<Person> {
    const earlier = await findSessionIds(this.database, person.id);
    const outcome = await this.verifySecond({ code }, visitor);
    if (outcome.ok && !person.hasTwoFactor) await endEarlierSessions(this.database, person.id, earlier);
    return outcome;
  }

  enableTwoFactor(password: string, person: Person, visitor: Visitor): Attempt<SecondFactor> {
    return this.guarded(person, visitor, () =>
      callBetterAuth(
        async () =>
          (await this.betterAuth()).api.enableTwoFactor({
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

  disableTwoFactor(password: string, person: Person, visitor: Visitor): Attempt<null> {
    return this.guarded(person, visitor, () =>
      callBetterAuth(
        async () =>
          (await this.betterAuth()).api.disableTwoFactor({
            body: { password },
            headers: headersOf(visitor),
            returnHeaders: true,
          }),
        () => null,
      ),
    );
  }

  /** Checks the password of a signed-in person again, for actions that a stolen session must not allow. */
  confirmPassword(password: string, person: Person, visitor: Visitor): Attempt<null> {
    return this.guarded(
      person,
      visitor,
      async () => (await this.#refusePassword(password, person)) ?? { ok: true, value: null, cookies: [] },
    );
  }

  /** New backup codes; the old ones stop working. */
  regenerateBackupCodes(password: string, person: Person, visitor: Visitor): Attempt<readonly string[]> {
    return this.guarded(person, visitor, () =>
      callBetterAuth(
        async () =>
          (await this.betterAuth()).api.generateBackupCodes({
            body: { password },
            headers: headersOf(visitor),
            returnHeaders: true,
          }),
        ({ backupCodes }) => backupCodes,
      ),
    );
  }

  /** Changes the address that the person signs in with, and ends all other sessions, pending sign-ins and links. */
  async changeEmail(
    { email, password }: { email: string; password: string },
    { person, sessionId }: SignedIn,
    visitor: Visitor,
  ): Attempt<Person> {
    const address = email.toLowerCase();
    return this.guarded(person, visitor, async () => {
      const refusal = await this.#refusePassword(password, person);
      if (refusal) return refusal;
      const isChanged = await this.database.transaction((connection) =>
        replaceEmail(connection, { personId: person.id, email: address, sessionId }, this.wallClock()),
      );
      if (!isChanged) return refuse('email_taken', { param: '/email' });
      return { ok: true, value: { ...person, email: address }, cookies: [] };
    });
  }

  /** The options to create a passkey, after the password. */
  createPasskey(password: string, person: Person, visitor: Visitor): Attempt<Ceremony> {
    return this.guarded(
      person,
      visitor,
      async () =>
        (await this.#refusePassword(password, person)) ?? this.passkeys.registrationOptions(visitor),
    );
  }

  async signInWithPasskey(response: Ceremony, origin: string, visitor: Visitor): Attempt<Person> {
    const outcome = await this.passkeys.signIn(response, origin, visitor);
    return outcome.ok ? this.remembered(outcome, visitor) : outcome;
  }

  async #refusePassword(password: string, { id }: Person): Promise<Refusal | undefined> {
    const account = await findAccount(this.database, { id });
    const isRight = await unlessFull(isPassword(password, account?.passwordHash ?? ''));
    if (isRight === undefined) return refuseOverload();
    return isRight ? undefined : refuse('password_wrong', { param: '/password' });
  }

  /**
   * A link to choose a new password for the account with this address. The creator is a person, or null for the operator. Returns
   * null when no account has this address, or the creator is not allowed to create the link.
   */
  async createResetLink(email: string, creatorId: Id<'person'> | null): Promise<ResetLink | null> {
    const account = await findAccount(this.database, { email });
    return account ? this.#links.create(account.id, creatorId, this.wallClock()) : null;
  }

  async resetPassword(reset: { token: string; newPassword: string }): Attempt<Pick<Person, 'id'>> {
    const { token, newPassword } = reset;
    const personId = await this.#links.find(token, this.wallClock());
    const account = personId && (await findAccount(this.database, { id: personId }));
    if (!account) return refuse('link_invalid');
    const weakness = refuseWeakPassword(newPassword, account, '/newPassword');
    if (weakness) return weakness;
    const passwordHash = await withTrustedHashing(() => unlessFull(hashPassword(newPassword)));
    if (passwordHash === undefined) return refuseOverload();
    const id = await this.#links.use(token, passwordHash, this.wallClock());
    return id === undefined ? refuse('link_invalid') : { ok: true, value: { id }, cookies: [] };
  }

  /**
   * For the seed file: finds the account with this address, or creates it with the password. `isSeeded` is false for a
   * self-registered account, unless the seed takes it over.
   */
  async declare(user: DeclaredUser): Promise<{ readonly id: Id<'person'>; readonly isSeeded: boolean }> {
    const { email, password, takeOver = false } = user;
    const address = email.toLowerCase();
    const found = await findAccount(this.database, { email: address });
    if (found && (found.isSeeded || !takeOver)) return found;
    const passwordHash = await hashPassword(password);
    if (found) {
      await this.database.transaction((connection) =>
        takeOverAccount(connection, found.id, passwordHash, this.wallClock()),
      );
      return { id: found.id, isSeeded: true };
    }
    const account = { name: address.slice(0, address.indexOf('@')), email: address, isSeeded: true };
    const id = await createAccount(this.database, { ...account, passwordHash }, this.wallClock());
    // Null: another node that starts with the same file created it first.
    return id === null ? this.declare(user) : { id, isSeeded: true };
  }

  async reap(): Promise<number> {
    return removeExpired(this.database, this.wallClock());
  }
}
