import type { ListedApiKey } from '../../generated/shapes.ts';
import { knownScopes } from './scope-presets.ts';

const dayMs = 86_400_000;

/** The state of the API key form. */
export interface KeyDraft {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt: string | null;
  /** One network per line. */
  readonly networks: string;
  readonly mayReset: boolean;
}

export const newDraft: KeyDraft = {
  name: '',
  scopes: knownScopes,
  expiresAt: null,
  networks: '',
  mayReset: false,
};

export function draftOf({ name, scopes, expiresAt, allowedCidrs, mayReset }: ListedApiKey): KeyDraft {
  return { name, scopes, expiresAt, networks: allowedCidrs.join('\n'), mayReset };
}

export function networksOf({ networks }: KeyDraft): string[] {
  const lines = networks.split('\n').map((line) => line.trim());
  return [...new Set(lines.filter((line) => line !== ''))];
}

/** What each field lacks; the server checks the rest. */
export function missingIn({ name, scopes, expiresAt }: KeyDraft) {
  return {
    name: name.trim() === '' ? 'Enter a name.' : undefined,
    scopes: scopes.length === 0 ? 'Select at least one scope.' : undefined,
    expiresAt: expiresAt === '' ? 'Select a date.' : undefined,
  };
}

/** The changed fields only, so that two people who edit different fields do not overwrite each other. */
export function changesOf(apiKey: ListedApiKey, draft: KeyDraft) {
  const name = draft.name.trim();
  const allowedCidrs = networksOf(draft);
  return {
    ...(name === apiKey.name ? {} : { name }),
    ...(isSameSet(draft.scopes, apiKey.scopes) ? {} : { scopes: draft.scopes }),
    ...(draft.expiresAt === apiKey.expiresAt ? {} : { expiresAt: draft.expiresAt }),
    ...(isSameSet(allowedCidrs, apiKey.allowedCidrs) ? {} : { allowedCidrs }),
    ...(draft.mayReset === apiKey.mayReset ? {} : { mayReset: draft.mayReset }),
  };
}

function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one) => b.includes(one));
}

/** The expiry for a selected option: never, a date to be entered, or a number of days from now. */
export function expiryOf(choice: string, nowMs: number): string | null {
  if (choice === 'never') return null;
  return choice === 'date' ? '' : new Date(nowMs + Number(choice) * dayMs).toISOString();
}
