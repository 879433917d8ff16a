import type { Database } from '../db/database.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import type { Id } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';
import { type Account, confirmAccount, createAccount, discardAccount, findAccount } from './accounts.ts';
import { type Attempt, callBetterAuth, type Outcome, refuseOverload } from './call-better-auth.ts';
import { cookiePrefixOf } from './cookie-prefix.ts';
import { cookieOf, KnownDevices } from './known-devices.ts';
import { HashQueueFull, hashPassword, withTrustedHashing } from './password.ts';
import { refuseWeakPassword } from './password-rule.ts';
import { claimCode, findPendingSignIn } from './second-factor.ts';
import { SecurityHistory } from './security-history.ts';
import { headersOf, type Person, personOf, Sessions, type Visitor } from './sessions.ts';
import {
  type Budget,
  networkOf,
  SignInThrottle,
  secondFactorBudget,
  signInBudgets,
} from './sign-in-throttle.ts';

export interface PeopleSettings {
  readonly database: Database;
  readonly secret: string;
  readonly isTls: boolean;
  /** The host name that passkeys belong to. */
  readonly passkeyHost: string;
  readonly wallClock: () => Instant;
}

/** Signing up and in, with a second factor, and the limits of failed attempts. */
export class SignIns extends Sessions {
  protected readonly database: Database;
  /** What happened to each account, for its person. */
  readonly history: SecurityHistory;
  readonly #cookiePrefix: string;
  protected readonly throttle: SignInThrottle;
  readonly #devices: KnownDevices;
  protected readonly wallClock: () => Instant;

  constructor({ database, secret, isTls, passkeyHost, wallClock }: PeopleSettings) {
    super(async () => {
      const { createBetterAuth } = await import('./better-auth.ts');
      return createBetterAuth({ database, secret, isTls, passkeyHost });
    });
    this.database = database;
    this.wallClock = wallClock;
    this.throttle = new SignInThrottle(database);
    this.history = new SecurityHistory(database, wallClock);
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
    const weakness = refuseWeakPassword(password, { name, email }, '/password');
    if (weakness) return weakness;
    const now = this.wallClock();
    const network = networkOf(visitor.address);
    const addressBudget: Budget = { limit: 'takenAddress', of: network };
    const refusal = await this.throttle.take([addressBudget, { limit: 'signUp', of: network }], now);
    if (refusal) return refusal;
    const passwordHash = await unlessFull(hashPassword(password));
    if (passwordHash === undefined) return refuseOverload();
    const account = { name, email: email.toLowerCase(), passwordHash, isProvisional: join !== undefined };
    const id = await createAccount(this.database, account, now);
    if (id === null) return refuse('email_taken');
    await this.throttle.release([addressBudget]);
    const person = { id, email: account.email, name, hasTwoFactor: false };
    // If joining fails without an answer, the account stays provisional; the reaper removes it unless it has joined after all.
    const unjoined = await join?.(person);
    if (unjoined) {
      await discardAccount(this.database, id);
      return unjoined;
    }
    if (join) await confirmAccount(this.database, id);
    // The account exists now, so the request must not fail because unknown clients have filled the hash queue.
    const outcome = await withTrustedHashing(() => this.#checkPassword(account.email, password, visitor));
    return outcome.ok ? this.remembered({ ...outcome, value: person }, visitor) : outcome;
  }

  /** Whether the browser was signed in before. The session of the cookie may have ended. */
  hasSessionCookie({ cookies }: Visitor): boolean {
    return cookieOf(cookies, `${this.#cookiePrefix}.session_token`) !== undefined;
  }

  /** Null when the person must still enter a second factor. */
  async signIn(
    { email, password }: { email: string; password: string },
    visitor: Visitor,
  ): Attempt<Person | null> {
    const account = await findAccount(this.database, { email });
    const deviceId = this.#deviceOf(account, visitor);
    const budgets = signInBudgets(email, visitor.address, deviceId);
    const refusal = await this.throttle.take(budgets, this.wallClock());
    if (refusal) return refusal;
    const check = () => this.#checkPassword(email, password, visitor);
    const outcome = await (deviceId === undefined ? check() : withTrustedHashing(check));
    if (!outcome.ok) {
      // Also for an unknown address, where it writes nothing: the response must not come sooner there.
      if (outcome.code === 'sign_in_failed') await this.history.record({ email }, 'sign_in_failed', visitor);
      return this.#countFailure(outcome, budgets);
    }
    await this.throttle.recordSuccess(budgets);
    const { value: person } = outcome;
    return person === null ? outcome : this.remembered({ ...outcome, value: person }, visitor);
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
    return account && this.#devices.find(cookies, account, this.wallClock());
  }

  /** Makes this browser a known device of the account. */
  protected async remembered<Value extends { readonly id: string }>(
    outcome: Outcome<Value>,
    visitor: Visitor,
  ): Promise<Outcome<Value>> {
    const account = await findAccount(this.database, { id: outcome.value.id });
    if (!account) return outcome;
    const cookie = this.#devices.remember(visitor.cookies, account, this.wallClock());
    return { ...outcome, cookies: [...outcome.cookies, cookie] };
  }

  /** The second step of signing in, or the confirmation of a new second factor by the person who is signed in. */
  async verifySecond(factor: { code: string } | { backupCode: string }, visitor: Visitor): Attempt<Person> {
    const personId = (await this.signedIn(visitor))?.value.person.id ?? (await this.#pendingPerson(visitor));
    if (personId === undefined) return refuse('two_factor_failed');
    const account = await findAccount(this.database, { id: personId });
    const budgets = [secondFactorBudget(personId, this.#deviceOf(account, visitor))];
    const refusal = await this.throttle.take(budgets, this.wallClock());
    if (refusal) return refusal;
    const outcome = await this.#checkSecond(factor, personId, visitor);
    if (!outcome.ok) {
      if (outcome.code === 'two_factor_failed')
        await this.history.record({ id: personId }, 'two_factor_failed', visitor);
      return outcome;
    }
    if ('backupCode' in factor) await this.history.record({ id: personId }, 'use_backup_code', visitor);
    await this.throttle.recordSuccess(budgets);
    return this.remembered(outcome, visitor);
  }

  /** The person whose sign-in waits for a second factor. Better Auth checks the cookie's signature; its identifier cannot be guessed. */
  async #pendingPerson({ cookies }: Visitor): Promise<Id<'person'> | undefined> {
    const cookie = cookieOf(cookies, `${this.#cookiePrefix}.two_factor`);
    if (cookie === undefined) return undefined;
    const [identifier = ''] = cookie.split('.', 1);
    return findPendingSignIn(this.database, identifier, this.wallClock());
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
    const claim = await claimCode(this.database, personId, factor.code, decrypt, Date.now());
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

  /** Limits password guesses with a stolen session. Guesses from other networks do not use this budget. */
  protected async guarded<Value>(
    person: Person,
    visitor: Visitor,
    work: () => Attempt<Value>,
  ): Attempt<Value> {
    const budgets: readonly Budget[] = [
      { limit: 'session', of: `${person.id} ${networkOf(visitor.address)}` },
    ];
    const refusal = await this.throttle.take(budgets, this.wallClock());
    if (refusal) return refusal;
    const outcome = await withTrustedHashing(work);
    if (!outcome.ok) return this.#countFailure(outcome, budgets);
    await this.throttle.recordSuccess(budgets);
    return outcome;
  }

  /** An attempt that was rejected before its password was checked does not count as a failure. */
  async #countFailure(refusal: Refusal, budgets: readonly Budget[]): Promise<Refusal> {
    if (refusal.code === 'rate_limited') await this.throttle.release(budgets);
    return refusal;
  }
}

/** Undefined when the hash queue is full. */
export async function unlessFull<Result>(hashing: Promise<Result>): Promise<Result | undefined> {
  return hashing.catch((error: unknown) => {
    if (error instanceof HashQueueFull) return undefined;
    throw error;
  });
}
