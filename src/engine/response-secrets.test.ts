import { describe, expect, test } from 'vitest';
import type { Actor } from '../kernel/command.ts';
import { replayedBody, sealFor, withSecrets } from './response-secrets.ts';
import type { Submission } from './submission.ts';
import { Vault } from './vault.ts';

const vault = new Vault('a secret of at least thirty-two characters');
const created = Date.UTC(2026, 0, 1);
const minute = 60_000;
const shown = '{"id":"whk_1","secret":"whsec_x"}';
const stored = '{"id":"whk_1"}';

interface Of {
  readonly actor?: Partial<Actor>;
  readonly key?: string;
  readonly appId?: string | null;
  readonly orgId?: string;
  readonly wallNow?: number;
}

function submission({
  actor = {},
  key = 'key',
  appId = 'app_1',
  orgId = 'org_1',
  wallNow = created,
}: Of = {}) {
  const context = { orgId, appId, actor: { kind: 'api_key', id: 'key_1', ...actor } };
  return { context, idempotency: { key, fingerprint: new Uint8Array() }, wallNow } as unknown as Submission;
}

const prior = (fields: { body?: string; sealedBody?: string | null } = {}) => ({
  ...{ fingerprint: new Uint8Array(), status: 201, createdAt: created },
  ...{ body: stored, sealedBody: sealFor(submission(), shown, vault), ...fields },
});

test('secrets are added to the fields of a response, or replace them', () => {
  expect(withSecrets('{"id":"x","secret":null}', { secret: 's', more: 1 })).toBe(
    '{"id":"x","secret":"s","more":1}',
  );
});

describe('a replay shows the secrets', () => {
  test.each<[what: string, of: Of, isShown: boolean]>([
    ['at once', {}, true],
    ['just before half an hour has passed', { wallNow: created + 30 * minute - 1 }, true],
    ['after half an hour', { wallNow: created + 30 * minute }, false],
    ['to another key', { actor: { id: 'key_2' } }, false],
    ['to the key that replaced it', { actor: { id: 'key_2', replaces: 'key_1' } }, true],
    ['to a key that replaced another one', { actor: { id: 'key_3', replaces: 'key_2' } }, false],
    ['to the key itself, which replaced another one', { actor: { replaces: 'key_0' } }, true],
    ['under another idempotency key', { key: 'other' }, false],
    ['in another application', { appId: 'app_2' }, false],
  ])('%s', (_what, of, isShown) => {
    expect(replayedBody(submission(of), prior(), vault)).toBe(isShown ? shown : stored);
  });

  test('not when there are none', () => {
    expect(replayedBody(submission(), prior({ sealedBody: null }), vault)).toBe(stored);
  });

  test('not those of an earlier response under the same key', () => {
    const earlier = sealFor(submission({ wallNow: created - 1 }), shown, vault);
    expect(replayedBody(submission(), prior({ sealedBody: earlier }), vault)).toBe(stored);
  });
});

test('a response that was sealed as a whole is replayed without its secrets', () => {
  const body = JSON.stringify({
    ...{ id: 'key_1', key: 'sbk_sandbox_abc', secret: 'whsec_abc', note: 'about whsec_abc' },
    ...{ url: 'https://x.example/console/invitation/abc', reset: 'https://x.example/console/reset/abc' },
    nested: [{ secret: 'whsec_def', name: 'x' }],
  });
  const sealed = vault.seal(body, 'app_1 key');
  expect(JSON.parse(replayedBody(submission(), prior({ body: sealed }), vault))).toEqual({
    ...{ id: 'key_1', note: 'about whsec_abc', nested: [{ name: 'x' }] },
  });
});
