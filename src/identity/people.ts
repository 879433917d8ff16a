import type { Database } from '../db/database.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
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

export type { Person, SignedIn, Visitor } from './sessions.ts';

export interface PeopleSettings {
  readonly database: Database;
  readonly secret: string;
  readonly isTls: boolean;
  readonly wallClock: () => Instant;
}

export interface DeclaredUser {
  readonly email: string;
  readonly password: string;
  /** Whether an account that somebody registered themselves becomes the seed's. */
  readonly takeOver?: boolean | undefined;
}

export interface SecondFactor {
  readonly uri: string;
  readonly backupCodes: readonly string[];
}

/** The people who use the console: who they are, and how they prove it. Memberships say what they may do. */
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
   * Creates an account and signs in. With `join`, the account exists only if joining succeeds: one invitation makes one account,
   * however many sign up with it at once.
   */
  async signUp(
    { name, email, password }: { name: string; email: string; password: string },
    visitor: Visitor,
    join?: (person: Person) => Promise<Refusal | undefined>,
  ): Attempt<Person> {
    const now = this.#wallClock();
    const network = networkOf(visitor.address);
    const taken: Budget = { limit: 'takenAddress', of: network };
    const refusal = await this.#throttle.take([taken, { limit: 'signUp', of: network }], now);
    if (refusal) return refusal;
    const passwordHash = await hashUnlessFull(password);
    if (passwordHash === undefined) return refuseOverload();
    const asked = { name, email: email.toLowerCase(), passwordHash, isProvisional: join !== undefined };
    const id = await createAccount(this.#database, asked, now);
    if (id === null) return refuse('email_taken');
    await this.#throttle.giveBack([taken]);
    const person = { id, email: asked.email, name, hasTwoFactor: false };
    // If joining fails without an answer, the account stays provisional, and is kept only if it has joined after all.
    const unjoined = await join?.(person);
    if (unjoined) {
      await discardAccount(this.#database, id);
      return unjoined;
    }
    if (join) await confirmAccount(this.#database, id);
    // The account exists by now, so the request must not fail because strangers have filled the hash queue.
    const outcome = await withTrustedHashing(() => this.#checkPassword(asked.email, password, visitor));
    return outcome.ok ? this.#remembered({ ...outcome, value: person }, visitor) : outcome;
  }

  /** Null when the person has a second factor, and is not signed in yet. */
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

  /** The account knows this browser from now on. */
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
  async verifySecond(asked: { code: string } | { backupCode: string }, visitor: Visitor): Attempt<Person> {
    const personId = (await this.whoIs(visitor))?.value.person.id ?? (await this.#pendingPerson(visitor));
    if (personId === undefined) return refuse('two_factor_failed');
    const account = await findAccount(this.#database, { id: personId });
    const budgets = [secondFactorBudget(personId, this.#deviceOf(account, visitor))];
    const refusal = await this.#throttle.take(budgets, this.#wallClock());
    if (refusal) return refusal;
    const outcome = await this.#checkSecond(asked, personId, visitor);
    if (!outcome.ok) return outcome;
    await this.#throttle.recordSuccess(budgets);
    return this.#remembered(outcome, visitor);
  }

  /** Whose sign-in waits for a second factor. Better Auth checks the signature of the cookie; nobody guesses its identifier. */
  async #pendingPerson({ cookies }: Visitor): Promise<string | undefined> {
    const cookie = cookieOf(cookies, `${this.#cookiePrefix}.two_factor`);
    if (cookie === undefined) return undefined;
    const [identifier = ''] = cookie.split('.', 1);
    return findPendingSignIn(this.#database, identifier, this.#wallClock());
  }

  async #checkSecond(
    asked: { code: string } | { backupCode: string },
    personId: string,
    visitor: Visitor,
  ): Attempt<Person> {
    const headers = headersOf(visitor);
    const { api, $context } = await this.betterAuth();
    if ('backupCode' in asked)
      return callBetterAuth(
        () => api.verifyBackupCode({ body: { code: asked.backupCode }, headers, returnHeaders: true }),
        ({ user }) => personOf(user),
        // A backup code that another request uses at this moment is refused without an error code.
        'two_factor_failed',
      );
    const { symmetricDecrypt } = await import('better-auth/crypto');
    const { secretConfig } = await $context;
    const decrypt = (data: string) => symmetricDecrypt({ key: secretConfig, data });
    const claim = await claimCode(this.#database, personId, asked.code, decrypt, Date.now());
    // Better Auth counts the failures of each sign-in, so it checks a code in any case: none that could be right, unless claimed.
    const code = claim === 'claimed' ? asked.code : '';
    const outcome = await callBetterAuth(
      () => api.verifyTOTP({ body: { code }, headers, returnHeaders: true }),
      ({ user }) => personOf(user),
      'two_factor_failed',
    );
    if (claim !== 'used') return outcome;
    return refuse('two_factor_failed', { message: 'This code was used already. Wait for the next one.' });
  }

  /** Ends all other sessions, sign-ins that wait for a second factor, and known devices: the old password may have leaked. */
  async changePassword(
    asked: { currentPassword: string; newPassword: string },
    person: Person,
    visitor: Visitor,
  ): Attempt<null> {
    const outcome = await this.#guarded(person, visitor, () =>
      callBetterAuth(
        async () =>
          (await this.betterAuth()).api.changePassword({
            body: { ...asked, revokeOtherSessions: true },
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
   * A link with which the person of this address chooses a new password. The creator is a person, or null for the operator. Null
   * when nobody has this address, or the creator has no right to the link.
   */
  async createResetLink(email: string, creatorId: string | null): Promise<ResetLink | null> {
    const account = await findAccount(this.#database, { email });
    return account ? this.#links.create(account.id, creatorId, this.#wallClock()) : null;
  }

  async resetPassword(asked: { token: string; newPassword: string }): Attempt<Pick<Person, 'id'>> {
    const { token, newPassword } = asked;
    if (!(await this.#links.isValid(token, this.#wallClock()))) return refuse('link_invalid');
    const passwordHash = await withTrustedHashing(() => hashUnlessFull(newPassword));
    if (passwordHash === undefined) return refuseOverload();
    const id = await this.#links.use(token, passwordHash, this.#wallClock());
    return id === undefined ? refuse('link_invalid') : { ok: true, value: { id }, cookies: [] };
  }

  /**
   * For the seed file: the person of this address, created with the password when there is none. `isSeeded` is false for an account
   * that somebody registered themselves, unless the seed takes it over.
   */
  async declare(user: DeclaredUser): Promise<{ readonly id: string; readonly isSeeded: boolean }> {
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
    const asked = { name: address.slice(0, address.indexOf('@')), email: address, isSeeded: true };
    const id = await createAccount(this.#database, { ...asked, passwordHash }, this.#wallClock());
    // Another node may start with the same file at the same moment, and be first.
    return id === null ? this.declare(user) : { id, isSeeded: true };
  }

  async reap(): Promise<number> {
    return removeExpired(this.#database, this.#wallClock());
  }

  /** A stolen session must not serve to guess the password either; guesses from elsewhere do not count here. */
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

  /** An attempt that was refused before its password was checked has not failed. */
  async #countFailure(refusal: Refusal, budgets: readonly Budget[]): Promise<Refusal> {
    if (refusal.code === 'rate_limited') await this.#throttle.giveBack(budgets);
    return refusal;
  }
}

async function hashUnlessFull(password: string): Promise<string | undefined> {
  return hashPassword(password).catch((error: unknown) => {
    if (error instanceof HashQueueFull) return undefined;
    throw error;
  });
}
