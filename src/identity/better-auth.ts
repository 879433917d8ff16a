import { passkey } from '@better-auth/passkey';
import { betterAuth } from 'better-auth';
import { APIError } from 'better-auth/api';
import { twoFactor } from 'better-auth/plugins/two-factor';
import type { Database } from '../db/database.ts';
import { newSuffix } from '../engine/ids.ts';
import { formatId } from '../kernel/ids.ts';
import { limits } from '../kernel/limits.ts';
import { daySeconds } from '../kernel/time.ts';
import { addressHeader, sessionDays } from './constants.ts';
import { cookiePrefixOf, sessionKey } from './cookie-prefix.ts';
import { dialectOf } from './dialect.ts';
import { hashPassword, isPassword } from './password.ts';

export interface BetterAuthSettings {
  readonly database: Database;
  /** The server secret; the session signing key is derived from it. */
  readonly secret: string;
  /** Whether browsers connect over TLS. */
  readonly isTls: boolean;
  /** The host name that passkeys belong to. */
  readonly passkeyHost: string;
}

const at = { createdAt: 'created_at', updatedAt: 'updated_at' };

/**
 * Better Auth: accounts, sessions, second factors. The engine manages organizations, roles and keys, so that each change is in
 * the audit trail. Better Auth's own routes are not exposed; the console's routes are in http/.
 */
export function createBetterAuth({ database, secret, isTls, passkeyHost }: BetterAuthSettings) {
  const key = sessionKey(secret);
  return betterAuth({
    appName: 'Sandbank',
    baseURL: 'http://console.invalid',
    secret: key,
    telemetry: { enabled: false },
    logger: { disabled: true },
    rateLimit: { enabled: false },
    database: { dialect: dialectOf(database), type: 'postgres', transaction: false },
    emailAndPassword: {
      enabled: true,
      autoSignIn: true,
      minPasswordLength: limits.passwordLengthMin,
      // Better Auth counts UTF-16 code units; the route's schema enforces the real limit.
      maxPasswordLength: 2 * limits.passwordLengthMax,
      password: { hash: hashPassword, verify: ({ password, hash }) => isPassword(password, hash) },
      // Accounts are created in one statement (accounts.ts), and reset links store their creator (reset-links.ts).
      disableSignUp: true,
    },
    user: {
      modelName: 'persons',
      fields: { emailVerified: 'email_verified', ...at },
    },
    session: {
      modelName: 'person_sessions',
      fields: {
        userId: 'person_id',
        expiresAt: 'expires_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
        ...at,
      },
      expiresIn: sessionDays * daySeconds,
      updateAge: daySeconds,
      // Adding a passkey requires the password instead of a new session.
      freshAge: 0,
    },
    account: {
      modelName: 'person_accounts',
      fields: {
        userId: 'person_id',
        accountId: 'account_id',
        providerId: 'provider_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
        ...at,
      },
    },
    verification: {
      modelName: 'person_verifications',
      fields: { expiresAt: 'expires_at', ...at },
      // An identifier together with a code is enough to sign in.
      storeIdentifier: 'hashed',
    },
    plugins: [
      twoFactor({
        issuer: 'Sandbank',
        // SignInThrottle slows guesses down; a lockout would hit the account's owner as well.
        accountLockout: { enabled: false },
        schema: {
          user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
          twoFactor: {
            modelName: 'person_two_factors',
            fields: {
              userId: 'person_id',
              backupCodes: 'backup_codes',
              failedVerificationCount: 'failed_verification_count',
              lockedUntil: 'locked_until',
            },
          },
        },
      }),
      passkeys(passkeyHost),
    ],
    advanced: {
      cookiePrefix: cookiePrefixOf(secret, isTls),
      useSecureCookies: false,
      defaultCookieAttributes: { httpOnly: true, secure: isTls, sameSite: 'strict', path: '/' },
      // The server checks the origin of all console requests before they get here.
      disableCSRFCheck: true,
      disableOriginCheck: true,
      ipAddress: { ipAddressHeaders: [addressHeader] },
      database: {
        generateId: ({ model }) => formatId(model === 'user' ? 'person' : 'session', newSuffix()),
      },
    },
  });
}

export type BetterAuth = ReturnType<typeof createBetterAuth>;

/** Signing in without a password. */
function passkeys(host: string) {
  return passkey({
    rpID: host,
    rpName: 'Sandbank',
    // The browser checks the person, by a PIN or a fingerprint: a passkey counts as two factors.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    authentication: {
      afterVerification: ({ verification }) => {
        if (!verification.authenticationInfo.userVerified)
          throw new APIError('UNAUTHORIZED', { code: 'AUTHENTICATION_FAILED' });
      },
    },
    schema: {
      passkey: {
        modelName: 'person_passkeys',
        fields: {
          userId: 'person_id',
          publicKey: 'public_key',
          credentialID: 'credential_id',
          deviceType: 'device_type',
          backedUp: 'backed_up',
          createdAt: 'created_at',
        },
      },
    },
  });
}
