import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Database } from '../db/database.ts';
import type { Instant, Statement } from '../kernel/table.ts';

const stepMs = 30_000;
const digits = 6;
/** Better Auth accepts the codes of the step before and of the step after as well. */
const stepsAround = [-1, 0, 1] as const;

const pendingSignIn: Statement = {
  name: 'two_factor_pending',
  text: 'select value as "personId" from person_verifications where identifier = $1 and expires_at > $2',
};

/** Whose sign-in waits for a second factor, by the identifier in the browser's cookie. Better Auth stores its hash. */
export async function findPendingSignIn(
  database: Pick<Database, 'query'>,
  identifier: string,
  now: Instant,
): Promise<string | undefined> {
  const hash = createHash('sha256').update(identifier).digest('base64url');
  const [row] = await database.query<{ readonly personId: string }>(pendingSignIn, [
    ...[hash, new Date(now).toISOString()],
  ]);
  return row?.personId;
}

const secretOf: Statement = {
  name: 'two_factor_secret',
  text: 'select secret from person_two_factors where person_id = $1 limit 1',
};

/** Codes of one step are accepted once, and none of an earlier step after it: one atomic statement decides on all nodes. */
const claimStep: Statement = {
  name: 'two_factor_claim',
  text: `update person_two_factors set last_counter = $2
    where person_id = $1 and (last_counter is null or last_counter < $2) returning 1 as claimed`,
};

/**
 * Claims a TOTP code for this one use (RFC 6238, section 5.2). `wrong` is a code that is not valid now; `used` is one that was
 * accepted before.
 */
export async function claimCode(
  database: Pick<Database, 'query'>,
  personId: string,
  code: string,
  decrypt: (secret: string) => Promise<string>,
  now: Instant,
): Promise<'claimed' | 'used' | 'wrong'> {
  const [row] = await database.query<{ readonly secret: string }>(secretOf, [personId]);
  if (!row) return 'wrong';
  const counter = counterOf(await decrypt(row.secret), code, now);
  if (counter === undefined) return 'wrong';
  const rows = await database.query(claimStep, [personId, counter]);
  return rows.length === 1 ? 'claimed' : 'used';
}

/** The latest step of which this is the code; every step is compared, so that the time taken says nothing. */
function counterOf(secret: string, code: string, now: Instant): number | undefined {
  const current = Math.floor(now / stepMs);
  let found: number | undefined;
  for (const step of stepsAround) if (isSame(code, hotp(secret, current + step))) found = current + step;
  return found;
}

/** RFC 4226. */
function hotp(secret: string, counter: number): string {
  const message = Buffer.alloc(8);
  message.writeBigUInt64BE(BigInt(counter));
  const mac = createHmac('sha1', secret).update(message).digest();
  const offset = (mac.at(-1) ?? 0) & 0x0f;
  return String((mac.readUInt32BE(offset) & 0x7fff_ffff) % 10 ** digits).padStart(digits, '0');
}

function isSame(code: string, expected: string): boolean {
  const given = Buffer.from(code);
  return given.length === expected.length && timingSafeEqual(given, Buffer.from(expected));
}
