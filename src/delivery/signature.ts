import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { type Vault, VaultProblem } from '../engine/vault.ts';
import { limits } from '../kernel/limits.ts';
import type { Instant, Reader } from '../kernel/table.ts';
import { findAnyWebhook } from '../resources/webhooks/store.ts';
import type { StoredSecret } from '../resources/webhooks/table.ts';

const secretBytes = 32;

export function newWebhookSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString('base64')}`;
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

/** The Standard Webhooks headers. While secrets overlap, each active secret signs, the newest first. */
export function signedHeaders(
  secrets: readonly string[],
  { eventId, payload, signedAt }: Signing,
): Record<string, string> {
  const timestamp = new Date(signedAt);
  const signatures = secrets.map((secret) => new Webhook(secret).sign(eventId, timestamp, payload));
  return {
    'webhook-id': eventId,
    'webhook-timestamp': String(Math.floor(signedAt / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
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
      .map(({ sealed }) => vault.open(sealed, owner));
  } catch (error) {
    if (error instanceof VaultProblem) return undefined;
    throw error;
  }
}

/** Fails at startup if SANDBANK_SECRET has changed: otherwise every delivery would fail. */
export async function checkVaultSecret(vault: Vault, reader: Reader): Promise<void> {
  const webhook = await findAnyWebhook(reader);
  const [secret] = webhook?.secrets ?? [];
  if (webhook && secret) vault.open(secret.sealed, belongsTo(webhook.orgId, webhook.id));
}
