import type { Database } from '../db/database.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import type { Id } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';
import {
  type Account,
  confirmAccount,
  createAccount,
  discardAccount,
  endPendingSignIns,
  findAccount,
  takeOverAccount,
} from './accounts.ts';
import { type Attempt, callBetterAuth, type Outcome, refuseOverload } from './call-better-auth.ts';
import { cookiePrefixOf } from './cookie-prefix.ts';
import { cookieOf, KnownDevices } from './known-devices.ts';
import { HashQueueFull, hashPassword, withTrustedHashing } from './password.ts';
import { type ResetLink, ResetLinks } from './reset-links.ts';
import { removeExpired } from './retention.ts';
import { claimCode, findPendingSignIn } from './second-factor.ts';
import { headersOf, type Person, personOf, Sessions, type Visitor } from './sessions.ts';
import {
  type Budget,
  networkOf,
  SignInThrottle,
  secondFactorBudget,
  signInBudgets,
} from './sign-in-throttle.ts';

export type { Person, Visitor } from './sessions.ts';

export interface PeopleSettings {
  readonly database: Database;
  readonly secret: string;
  readonly isTls: boolean;
  readonly wallClock: () => Instant;
}

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

/** Console users and their authentication. Memberships define their permissions. */
export class People extends Sessions {
  readonly #database: Database;
  readonly #cookiePrefix: string;
  readonly #throttle: SignInThrottle;
  readonly #devices: KnownDevices;
  readonly #links: ResetLinks;
  readonly #wallClock: () => Instant;

  constructor({ database, secret, isTls, wallClock }: PeopleSettings) {
    super(async () => {
      const { createBetterAuth } = await import('./better-auth.ts');
      return createBetterAuth({ database, secret, isTls });
    });
    this.#database = database;
    this.#wallClock = wallClock;
    this.#throttle = new SignInThrottle(database);
    this.#links = new ResetLinks(database);
    this.#cookiePrefix = cookiePrefixOf(secret, isTls);
    this.#devices = new KnownDevices({ secret, isTls, cookiePrefix: this.#cookiePrefix });
  }

  /**
   * Creates an account and signs in. With `join`, the account exists only if joining succeeds: an invitation creates one account,
   * even with concurrent sign-ups.
   */
  async signUp(
    { name, email, password }: { name: string; email: string; password: string },
    visitor: Visitor,
    join?: (person: Person) => Promise<Refusal | undefined>,
  ): Attempt<Person> {
    const now = this.#wallClock();
    const network = networkOf(visitor.address);
    const addressBudget: Budget = { limit: 'takenAddress', of: network };
    const refusal = await this.#throttle.take([addressBudget, { limit: 'signUp', of: network }], now);
    if (refusal) return refusal;
    const passwordHash = await hashUnlessFull(password);
    if (passwordHash === undefined) return refuseOverload();
    const account = { name, email: email.toLowerCase(), passwordHash, isProvisional: join !== undefined };
    const id = await createAccount(this.#database, account, now);
    if (id === null) return refuse('email_taken');
    await this.#throttle.release([addressBudget]);
    const person = { id, email: account.email, name, hasTwoFactor: false };
    // If joining fails without an answer, the account stays provisional; the reaper removes it unless it has joined after all.
    const unjoined = await join?.(person);
    if (unjoined) {
      await discardAccount(this.#database, id);
      return unjoined;
    }
    if (join) await confirmAccount(this.#database, id);
    // The account exists now, so the request must not fail because unknown clients have filled the hash queue.
    const outcome = await withTrustedHashing(() => this.#checkPassword(account.email, password, visitor));
    return outcome.ok ? this.#remembered({ ...outcome, value: person }, visitor) : outcome;
  }

  /** Null when the person must still enter a second factor. */
  async signIn(
    { email, password }: { email: string; password: string },
    visitor: Visitor,
  ): Attempt<Person | null> {
    const account = await findAccount(this.#database, { email });
    const deviceId = this.#deviceOf(account, visitor);
    const budgets = signInBudgets(email, visitor.address, deviceId);
    const refusal = await this.#throttle.take(budgets, this.#wallClock());
    if (refusal) return refusal;
    const check = () => this.#checkPassword(email, password, visitor);
    const outcome = await (deviceId === undefined ? check() : withTrustedHashing(check));
    if (!outcome.ok) return this.#countFailure(outcome, budgets);
    await this.#throttle.recordSuccess(budgets);
    const { value: person } = outcome;
    return person === null ? outcome : this.#remembered({ ...outcome, value: person }, visitor);
  }

  #checkPassword(email: string, password: string, visitor: Visitor): Attempt<Person | null> {
    return callBetterAuth(
      async () =>
        (await this.betterAuth()).api.signInEmail({
          body: { email, password },
          headers: headersOf(visitor),
          returnHeaders: true,
        }),
      (response) => ('user' in response && response.user ? personOf(response.user) : null),
    );
  }

  #deviceOf(account: Account | undefined, { cookies }: Visitor): string | undefined {
    return account && this.#devices.find(cookies, account, this.#wallClock());
  }

  /** Makes this browser a known device of the account. */
  async #remembered<Value extends { readonly id: string }>(
    outcome: Outcome<Value>,
    visitor: Visitor,
  ): Promise<Outcome<Value>> {
    const account = await findAccount(this.#database, { id: outcome.value.id });
    if (!account) return outcome;
    const cookie = this.#devices.remember(visitor.cookies, account, this.#wallClock());
    return { ...outcome, cookies: [...outcome.cookies, cookie] };
  }

  /** The second step of signing in, or the confirmation of a new second factor by the person who is signed in. */
  async verifySecond(factor: { code: string } | { backupCode: string }, visitor: Visitor): Attempt<Person> {
    const personId = (await this.signedIn(visitor))?.value.person.id ?? (await this.#pendingPerson(visitor));
    if (personId === undefined) return refuse('two_factor_failed');
    const account = await findAccount(this.#database, { id: personId });
    const budgets = [secondFactorBudget(personId, this.#deviceOf(account, visitor))];
    const refusal = await this.#throttle.take(budgets, this.#wallClock());
    if (refusal) return refusal;
    const outcome = await this.#checkSecond(factor, personId, visitor);
    if (!outcome.ok) return outcome;
    await this.#throttle.recordSuccess(budgets);
    return this.#remembered(outcome, visitor);
  }

  /** The person whose sign-in waits for a second factor. Better Auth checks the cookie's signature; its identifier cannot be guessed. */
  async #pendingPerson({ cookies }: Visitor): Promise<Id<'person'> | undefined> {
    const cookie = cookieOf(cookies, `${this.#cookiePrefix}.two_factor`);
    if (cookie === undefined) return undefined;
    const [identifier = ''] = cookie.split('.', 1);
    return findPendingSignIn(this.#database, identifier, this.#wallClock());
  }

  async #checkSecond(
    factor: { code: string } | { backupCode: string },
    personId: Id<'person'>,
    visitor: Visitor,
  ): Attempt<Person> {
    const headers = headersOf(visitor);
    const { api, $context } = await this.betterAuth();
    if ('backupCode' in factor)
      return callBetterAuth(
        () => api.verifyBackupCode({ body: { code: factor.backupCode }, headers, returnHeaders: true }),
        ({ user }) => personOf(user),
        // Better Auth rejects a backup code that a concurrent request is using without an error code.
        'two_factor_failed',
      );
    const { symmetricDecrypt } = await import('better-auth/crypto');
    const { secretConfig } = await $context;
    const decrypt = (data: string) => symmetricDecrypt({ key: secretConfig, data });
    const claim = await claimCode(this.#database, personId, factor.code, decrypt, Date.now());
    // Better Auth counts the failures of each sign-in, so it always checks a code: an invalid one unless the code was claimed.
    const code = claim === 'claimed' ? factor.code : '';
    const outcome = await callBetterAuth(
      () => api.verifyTOTP({ body: { code }, headers, returnHeaders: true }),
      ({ user }) => personOf(user),
      'two_factor_failed',
    );
    if (claim !== 'used') return outcome;
    return refuse('two_factor_failed', { message: 'This code was already used. Wait for the next one.' });
  }

  /** Ends all other sessions, pending sign-ins and known devices: the old password may have leaked. */
  async changePassword(
    passwords: { currentPassword: string; newPassword: string },
    person: Person,
    visitor: Visitor,
  ): Attempt<null> {
    const outcome = await this.#guarded(person, visitor, () =>
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
    await endPendingSignIns(this.#database, person.id);
    return { ...(await this.#remembered(outcome, visitor)), value: null };
  }

  enableTwoFactor(password: string, person: Person, visitor: Visitor): Attempt<SecondFactor> {
    return this.#guarded(person, visitor, () =>
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
    return this.#guarded(person, visitor, () =>
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

  /**
   * A link to choose a new password for the account with this address. The creator is a person, or null for the operator. Returns
   * null when no account has this address, or the creator is not allowed to create the link.
   */
  async createResetLink(email: string, creatorId: Id<'person'> | null): Promise<ResetLink | null> {
    const account = await findAccount(this.#database, { email });
    return account ? this.#links.create(account.id, creatorId, this.#wallClock()) : null;
  }

  async resetPassword(reset: { token: string; newPassword: string }): Attempt<Pick<Person, 'id'>> {
    const { token, newPassword } = reset;
    if (!(await this.#links.isValid(token, this.#wallClock()))) return refuse('link_invalid');
    const passwordHash = await withTrustedHashing(() => hashUnlessFull(newPassword));
    if (passwordHash === undefined) return refuseOverload();
    const id = await this.#links.use(token, passwordHash, this.#wallClock());
    return id === undefined ? refuse('link_invalid') : { ok: true, value: { id }, cookies: [] };
  }

  /**
   * For the seed file: finds the account with this address, or creates it with the password. `isSeeded` is false for a
   * self-registered account, unless the seed takes it over.
   */
  async declare(user: DeclaredUser): Promise<{ readonly id: Id<'person'>; readonly isSeeded: boolean }> {
    const { email, password, takeOver = false } = user;
    const address = email.toLowerCase();
    const found = await findAccount(this.#database, { email: address });
    if (found && (found.isSeeded || !takeOver)) return found;
    const passwordHash = await hashPassword(password);
    if (found) {
      await this.#database.transaction((connection) =>
        takeOverAccount(connection, found.id, passwordHash, this.#wallClock()),
      );
      return { id: found.id, isSeeded: true };
    }
    const account = { name: address.slice(0, address.indexOf('@')), email: address, isSeeded: true };
    const id = await createAccount(this.#database, { ...account, passwordHash }, this.#wallClock());
    // Null: another node that starts with the same file created it first.
    return id === null ? this.declare(user) : { id, isSeeded: true };
  }

  async reap(): Promise<number> {
    return removeExpired(this.#database, this.#wallClock());
  }

  /** Limits password guesses with a stolen session. Guesses from other networks do not use this budget. */
  async #guarded<Value>(person: Person, visitor: Visitor, work: () => Attempt<Value>): Attempt<Value> {
    const budgets: readonly Budget[] = [
      { limit: 'session', of: `${person.id} ${networkOf(visitor.address)}` },
    ];
    const refusal = await this.#throttle.take(budgets, this.#wallClock());
    if (refusal) return refusal;
    const outcome = await withTrustedHashing(work);
    if (!outcome.ok) return this.#countFailure(outcome, budgets);
    await this.#throttle.recordSuccess(budgets);
    return outcome;
  }

  /** An attempt that was rejected before its password was checked does not count as a failure. */
  async #countFailure(refusal: Refusal, budgets: readonly Budget[]): Promise<Refusal> {
    if (refusal.code === 'rate_limited') await this.#throttle.release(budgets);
    return refusal;
  }
}

async function hashUnlessFull(password: string): Promise<string | undefined> {
  return hashPassword(password).catch((error: unknown) => {
    if (error instanceof HashQueueFull) return undefined;
    throw error;
  });
}
