import { createHash, hkdfSync } from 'node:crypto';
import { betterAuth } from 'better-auth';
import { twoFactor } from 'better-auth/plugins/two-factor';
import type { Database } from '../db/database.ts';
import { newSuffix } from '../engine/ids.ts';
import { formatId } from '../kernel/ids.ts';
import { limits } from '../kernel/limits.ts';
import { dialectOf } from './dialect.ts';
import { addressHeader, resetHours, sessionDays } from './figures.ts';
import { hashPassword, isPassword } from './password.ts';

export interface LibrarySettings {
  readonly database: Database;
  /** The server's own; what signs sessions is derived from it. */
  readonly secret: string;
  /** Whether people come over TLS. */
  readonly isTls: boolean;
  /** There is no mail server: the token of a link is handed to whoever asked for it. */
  readonly onResetToken: (email: string, token: string) => void;
}

const day = 86_400;
const at = { createdAt: 'created_at', updatedAt: 'updated_at' };

/**
 * Better Auth: accounts, sessions, second factors. Organizations, roles and keys are not its business but the engine's, so
 * that each change of them is in the audit trail. Nobody reaches its own routes: the console's are in http/.
 */
export function createLibrary({ database, secret, isTls, onResetToken }: LibrarySettings) {
  const key = Buffer.from(hkdfSync('sha256', secret, 'sandbank', 'console sessions v1', 32)).toString('hex');
  // Browsers share cookies between the ports of a host: two servers on one laptop must not sign each other's people out.
  const mark = createHash('sha256').update(key).digest('hex').slice(0, 8);
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
      // It counts halves of emoji; what a password may be is said by the schema of the route.
      maxPasswordLength: 2 * limits.passwordLengthMax,
      password: { hash: hashPassword, verify: ({ password, hash }) => isPassword(password, hash) },
      resetPasswordTokenExpiresIn: resetHours * 3_600,
      revokeSessionsOnPasswordReset: true,
      sendResetPassword: async ({ user, token }) => onResetToken(user.email, token),
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
      expiresIn: sessionDays * day,
      updateAge: day,
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
      // What a link carries is as good as a password for a day.
      storeIdentifier: 'hashed',
    },
    plugins: [
      twoFactor({
        issuer: 'Sandbank',
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
    ],
    advanced: {
      cookiePrefix: `${isTls ? '__Host-' : ''}sandbank-${mark}`,
      useSecureCookies: false,
      defaultCookieAttributes: { httpOnly: true, secure: isTls, sameSite: 'strict', path: '/' },
      // Where a request may come from is looked at before, for all of the console alike.
      disableCSRFCheck: true,
      disableOriginCheck: true,
      ipAddress: { ipAddressHeaders: [addressHeader] },
      database: {
        generateId: ({ model }) => formatId(model === 'user' ? 'person' : 'session', newSuffix()),
      },
    },
  });
}

export type Library = ReturnType<typeof createLibrary>;
