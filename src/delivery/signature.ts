import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { type Vault, VaultProblem } from '../engine/vault.ts';
import { limits } from '../kernel/limits.ts';
import type { Reader } from '../kernel/route.ts';
import type { Instant } from '../kernel/table.ts';
import { findAnyWebhook } from '../resources/webhooks/store.ts';
import type { StoredSecret } from '../resources/webhooks/table.ts';

const secretBytes = 32;

export function newWebhookSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString('base64')}`;
}

/** What a secret of an endpoint belongs to: sealed for one, it opens for no other. */
export function belongsTo(orgId: string, webhookId: string): string {
  return `${orgId} ${webhookId}`;
}

export interface Signing {
  readonly eventId: string;
  readonly payload: string;
  /** The real time, so that verifiers accept it. */
  readonly signedAt: Instant;
}

/** The headers of Standard Webhooks. While secrets overlap each of them signs, the newest first. */
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
 * Whether a secret signs, by the wall clock. An end further away than the longest overlap was written by the release before, which
 * went by the application clock: such an overlap is over.
 */
function isActive({ expiresAt }: StoredSecret, wallNow: Instant): boolean {
  return expiresAt === null || (expiresAt > wallNow && expiresAt <= wallNow + overlapMsMax);
}

/** The secrets that sign now; undefined when they cannot be read. */
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

/** A server with another secret than the one before would fail at every delivery: it is told at the start. */
export async function tryVault(vault: Vault, reader: Reader): Promise<void> {
  const webhook = await findAnyWebhook(reader);
  const [secret] = webhook?.secrets ?? [];
  if (webhook && secret) vault.open(secret.sealed, belongsTo(webhook.orgId, webhook.id));
}
