import { type ErrorCode, type Refusal, refuse } from '../kernel/errors.ts';
import { withDatabaseFailures } from './dialect.ts';
import { HashQueueFull } from './password.ts';

/** The result of a request, and the cookies to set in the browser. */
export interface Outcome<Value> {
  readonly ok: true;
  readonly value: Value;
  readonly cookies: readonly string[];
}

export type Attempt<Value> = Promise<Outcome<Value> | Refusal>;

/** Maps Better Auth's error codes to ours. */
const codes: Readonly<Record<string, ErrorCode>> = {
  INVALID_EMAIL_OR_PASSWORD: 'sign_in_failed',
  INVALID_EMAIL: 'invalid_request',
  INVALID_PASSWORD: 'password_wrong',
  PASSWORD_TOO_SHORT: 'invalid_request',
  PASSWORD_TOO_LONG: 'invalid_request',
  USER_ALREADY_EXISTS: 'email_taken',
  USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: 'email_taken',
  INVALID_TOKEN: 'link_invalid',
  INVALID_CODE: 'two_factor_failed',
  INVALID_BACKUP_CODE: 'two_factor_failed',
  INVALID_TWO_FACTOR_COOKIE: 'two_factor_failed',
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: 'two_factor_failed',
  ACCOUNT_TEMPORARILY_LOCKED: 'two_factor_failed',
  TOTP_NOT_ENABLED: 'two_factor_failed',
  TWO_FACTOR_NOT_ENABLED: 'two_factor_failed',
  BACKUP_CODES_NOT_ENABLED: 'two_factor_failed',
  TOTP_ALREADY_ENABLED: 'invalid_request',
  CHALLENGE_NOT_FOUND: 'passkey_failed',
  PASSKEY_NOT_FOUND: 'passkey_failed',
  AUTHENTICATION_FAILED: 'passkey_failed',
  FAILED_TO_VERIFY_REGISTRATION: 'passkey_failed',
  YOU_ARE_NOT_ALLOWED_TO_REGISTER_THIS_PASSKEY: 'passkey_failed',
  SESSION_REQUIRED: 'session_missing',
  UNAUTHORIZED: 'session_missing',
  SESSION_EXPIRED: 'session_missing',
};

/** Calls Better Auth and maps its client errors to ours; `unnamed` is the code for errors without one. */
export async function callBetterAuth<Response, Value>(
  call: () => Promise<{ readonly response: Response; readonly headers: Headers }>,
  read: (response: Response) => Value,
  unnamed?: ErrorCode,
): Attempt<Value> {
  try {
    const { response, headers } = await withDatabaseFailures(call);
    return { ok: true, value: read(response), cookies: headers.getSetCookie() };
  } catch (error) {
    if (error instanceof HashQueueFull) return refuseOverload();
    const { body, statusCode } = error as {
      body?: { code?: string; message?: string };
      statusCode?: number;
    };
    const isRefusal = statusCode !== undefined && statusCode < 500;
    const code = body?.code === undefined ? (isRefusal ? unnamed : undefined) : codes[body.code];
    if (code === undefined) throw error;
    if (code !== 'invalid_request') return refuse(code);
    return refuse(code, body?.message === undefined ? {} : { message: `${body.message}.` });
  }
}

export function refuseOverload(): Refusal {
  return refuse('rate_limited', {
    message: 'The server is checking many passwords right now.',
    retryAfterSeconds: 3,
  });
}
