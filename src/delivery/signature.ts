import { createHmac, randomBytes } from 'node:crypto';
import { type Vault, VaultProblem } from '../engine/vault.ts';
import { assert } from '../kernel/assert.ts';
import { limits } from '../kernel/limits.ts';
import type { Instant, Reader } from '../kernel/table.ts';
import { findAnyWebhook } from '../resources/webhooks/store.ts';
import type { StoredSecret, WebhookRow } from '../resources/webhooks/table.ts';

const secretBytes = 32;
const secretPrefix = 'whsec_';

export function newWebhookSecret(): string {
  return `${secretPrefix}${randomBytes(secretBytes).toString('base64')}`;
}

/** The owner of an endpoint secret. A secret sealed for one endpoint cannot be opened for another. */
export function belongsTo(orgId: string, webhookId: string): string {
  return `${orgId} ${webhookId}`;
}

export interface Signing {
  readonly eventId: string;
  readonly payload: string;
  /** The real time: verifiers reject old timestamps. */
  readonly signedAt: Instant;
}

/**
 * The Standard Webhooks headers. While secrets overlap, each active secret signs, the newest first. The `standardwebhooks` package
 * hashes in JavaScript: 26 µs for a payload of 900 bytes, against 5 µs with OpenSSL. The tests verify these headers with it.
 */
export function signedHeaders(
  secrets: readonly string[],
  { eventId, payload, signedAt }: Signing,
): Record<string, string> {
  const timestamp = String(Math.floor(signedAt / 1_000));
  const signed = `${eventId}.${timestamp}.${payload}`;
  return {
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => `v1,${hmac(secret, signed)}`).join(' '),
  };
}

function hmac(secret: string, text: string): string {
  const key = Buffer.from(
    secret.startsWith(secretPrefix) ? secret.slice(secretPrefix.length) : secret,
    'base64',
  );
  return createHmac('sha256', key).update(text).digest('base64');
}

const overlapMsMax = limits.webhookOverlapSecondsMax * 1_000;

/**
 * Whether a secret is active, by the wall clock. An expiry beyond the longest overlap was written by the previous release, which
 * used the application clock: such an overlap has ended.
 */
function isActive({ expiresAt }: StoredSecret, wallNow: Instant): boolean {
  return expiresAt === null || (expiresAt > wallNow && expiresAt <= wallNow + overlapMsMax);
}

/** The active secrets; undefined when they cannot be decrypted. */
export function openSecrets(
  vault: Vault,
  secrets: readonly StoredSecret[],
  owner: string,
  wallNow: Instant,
): readonly string[] | undefined {
  try {
    return secrets
      .filter((secret) => isActive(secret, wallNow))
      .map((secret) => opened(vault, secret, owner));
  } catch (error) {
    if (error instanceof VaultProblem) return undefined;
    throw error;
  }
}

/** Secrets by their stored row, which the deliveries of one claim share: decrypting one takes 8 µs. */
const openedSecrets = new WeakMap<
  StoredSecret,
  { readonly vault: Vault; readonly owner: string; readonly text: string }
>();

function opened(vault: Vault, secret: StoredSecret, owner: string): string {
  const known = openedSecrets.get(secret);
  if (known?.vault === vault && known.owner === owner) return known.text;
  const text = vault.open(secret.sealed, owner);
  openedSecrets.set(secret, { vault, owner, text });
  return text;
}

/** The secret that signs new deliveries, in plain text. */
export function openCurrentSecret(
  vault: Vault,
  { orgId, id, secrets }: Pick<WebhookRow, 'orgId' | 'id' | 'secrets'>,
): string {
  const [current] = secrets;
  assert(current, `${id} has no secret`);
  return vault.open(current.sealed, belongsTo(orgId, id));
}

/** Fails at startup if SANDBANK_SECRET has changed: otherwise every delivery would fail. */
export async function checkVaultSecret(vault: Vault, reader: Reader): Promise<void> {
  const webhook = await findAnyWebhook(reader);
  const [secret] = webhook?.secrets ?? [];
  if (webhook && secret) vault.open(secret.sealed, belongsTo(webhook.orgId, webhook.id));
}
