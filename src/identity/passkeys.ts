import { isIP } from 'node:net';
import { refuse } from '../kernel/errors.ts';
import type { Instant } from '../kernel/table.ts';
import type { BetterAuth } from './better-auth.ts';
import { type Attempt, callBetterAuth } from './call-better-auth.ts';
import { headersOf, type Person, personOf, type Visitor } from './sessions.ts';

/** A stored passkey, without its public key. */
export interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Instant;
}

/** The options of a WebAuthn ceremony, or the browser's response to them, as JSON. */
export type Ceremony = Readonly<Record<string, unknown>>;

const passkeysMax = 20;

/**
 * Passkeys (WebAuthn). Better Auth creates and checks the challenges. `origin` is that of the page, which the server has compared
 * with its own address.
 */
export class Passkeys {
  readonly #betterAuth: () => Promise<BetterAuth>;

  constructor(betterAuth: () => Promise<BetterAuth>) {
    this.#betterAuth = betterAuth;
  }

  async list(visitor: Visitor): Promise<readonly Passkey[]> {
    const { api } = await this.#betterAuth();
    const found = await api.listPasskeys({ headers: headersOf(visitor) });
    return found
      .map(({ id, name, createdAt }) => ({ id, name: name ?? 'Passkey', createdAt: createdAt.getTime() }))
      .sort((a, b) => b.createdAt - a.createdAt);
  }

  /** The options for `navigator.credentials.create`. */
  registrationOptions(visitor: Visitor): Attempt<Ceremony> {
    return callBetterAuth(
      async () =>
        (await this.#betterAuth()).api.generatePasskeyRegistrationOptions({
          headers: headersOf(visitor),
          returnHeaders: true,
        }),
      (options) => ({ ...options }),
    );
  }

  async add(name: string, response: Ceremony, origin: string, visitor: Visitor): Attempt<null> {
    if ((await this.list(visitor)).length >= passkeysMax)
      return refuse('limit_reached', { message: `You have ${passkeysMax} passkeys, which is the maximum.` });
    return callBetterAuth(
      async () =>
        (await this.#betterAuth()).api.verifyPasskeyRegistration({
          body: { name, response },
          headers: withOrigin(visitor, origin),
          returnHeaders: true,
        }),
      () => null,
      'passkey_failed',
    );
  }

  async remove(id: string, visitor: Visitor): Attempt<null> {
    if (!(await this.list(visitor)).some((one) => one.id === id)) return refuse('resource_not_found');
    return callBetterAuth(
      async () =>
        (await this.#betterAuth()).api.deletePasskey({
          body: { id },
          headers: headersOf(visitor),
          returnHeaders: true,
        }),
      () => null,
    );
  }

  /** The options for `navigator.credentials.get`. They name no account: the browser offers the passkeys that it has. */
  signInOptions(visitor: Visitor): Attempt<Ceremony> {
    return callBetterAuth(
      async () =>
        (await this.#betterAuth()).api.generatePasskeyAuthenticationOptions({
          headers: headersOf({ ...visitor, cookies: undefined }),
          returnHeaders: true,
        }),
      (options) => ({ ...options, userVerification: 'required' }),
    );
  }

  signIn(response: Ceremony, origin: string, visitor: Visitor): Attempt<Person> {
    return callBetterAuth(
      async () =>
        (await this.#betterAuth()).api.verifyPasskeyAuthentication({
          // Better Auth checks the content.
          body: { response: response as never },
          headers: withOrigin(visitor, origin),
          returnHeaders: true,
        }),
      ({ user }) => personOf(user),
      'passkey_failed',
    );
  }
}

function withOrigin(visitor: Visitor, origin: string): Headers {
  const headers = headersOf(visitor);
  headers.set('origin', origin);
  return headers;
}

/** Browsers accept a host name, and no address: without a public host name, passkeys work at http://localhost only. */
export function passkeyHostOf(publicUrl: string | undefined): string {
  const host = publicUrl === undefined ? 'localhost' : new URL(publicUrl).hostname;
  return isIP(host.replace(/^\[|\]$/g, '')) === 0 ? host : 'localhost';
}
