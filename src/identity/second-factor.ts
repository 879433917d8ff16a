import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Database } from '../db/database.ts';
import type { Id } from '../kernel/ids.ts';
import type { Instant, Statement } from '../kernel/table.ts';

const stepMs = 30_000;
const digits = 6;
/** Better Auth also accepts the codes of the previous and the next step. */
const stepsAround = [-1, 0, 1] as const;

const pendingSignIn: Statement = {
  name: 'two_factor_pending',
  text: 'select value as "personId" from person_verifications where identifier = $1 and expires_at > $2',
};

/** Finds the person whose sign-in waits for a second factor, by the identifier in the cookie. Better Auth stores its hash. */
export async function findPendingSignIn(
  database: Pick<Database, 'query'>,
  identifier: string,
  now: Instant,
): Promise<Id<'person'> | undefined> {
  const hash = createHash('sha256').update(identifier).digest('base64url');
  const [row] = await database.query<{ readonly personId: Id<'person'> }>(pendingSignIn, [
    ...[hash, new Date(now).toISOString()],
  ]);
  return row?.personId;
}

const secretOf: Statement = {
  name: 'two_factor_secret',
  text: 'select secret from person_two_factors where person_id = $1 limit 1',
};

/** Accepts one code per step, and no code of an earlier step afterwards. One atomic statement decides for all nodes. */
const claimStep: Statement = {
  name: 'two_factor_claim',
  text: `update person_two_factors set last_counter = $2
    where person_id = $1 and (last_counter is null or last_counter < $2) returning 1 as claimed`,
};

/**
 * Claims a TOTP code for a single use (RFC 6238, section 5.2). `wrong`: the code is not valid now; `used`: the code was accepted
 * before.
 */
export async function claimCode(
  database: Pick<Database, 'query'>,
  personId: Id<'person'>,
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

/** The latest step with this code. It compares every step, so that the duration reveals nothing. */
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
