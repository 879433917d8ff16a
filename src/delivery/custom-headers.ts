import { type Vault, VaultProblem } from '../engine/vault.ts';
import type { StoredHeaders } from '../resources/webhooks/table.ts';
import { belongsTo } from './signature.ts';

type Headers = Readonly<Record<string, string>>;

/** Headers cannot be opened as a secret, nor for another endpoint. */
function ownerOf(orgId: string, webhookId: string): string {
  return `${belongsTo(orgId, webhookId)} headers`;
}

export function sealHeaders(vault: Vault, headers: Headers, orgId: string, webhookId: string): string {
  return vault.seal(JSON.stringify(headers), ownerOf(orgId, webhookId));
}

/** The custom headers of an endpoint; undefined when they cannot be decrypted. */
export function openHeaders(
  vault: Vault,
  headers: StoredHeaders | null,
  orgId: string,
  webhookId: string,
): Headers | undefined {
  if (headers === null) return {};
  try {
    return JSON.parse(vault.open(headers.sealed, ownerOf(orgId, webhookId))) as Headers;
  } catch (error) {
    if (error instanceof VaultProblem) return undefined;
    throw error;
  }
}

/** The headers as the delivery log stores them: their values may be credentials. */
export function redactHeaders(headers: Headers): Headers {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, '[redacted]']));
}
