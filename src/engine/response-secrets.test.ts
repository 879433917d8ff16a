import { describe, expect, test } from 'vitest';
import type { Actor, Submission } from '../kernel/command.ts';
import { formatId } from '../kernel/ids.ts';
import { bodyWithSecrets, replayedBody, sealFor } from './response-secrets.ts';
import { Vault } from './vault.ts';

const vault = new Vault('a secret of at least thirty-two characters');
const created = Date.UTC(2026, 0, 1);
const minute = 60_000;
const complete = '{"id":"whk_1","secret":"whsec_x"}';
const stored = '{"id":"whk_1"}';

interface Retry {
  readonly actor?: Partial<Actor>;
  readonly key?: string;
  readonly appId?: string | null;
  readonly orgId?: string;
  readonly wallNow?: number;
}

function submission({
  actor = {},
  key = 'key',
  appId = formatId('application', '1'),
  orgId = formatId('organization', '1'),
  wallNow = created,
}: Retry = {}) {
  const context = { orgId, appId, actor: { kind: 'api_key', id: formatId('api_key', '1'), ...actor } };
  return { context, idempotency: { key, fingerprint: new Uint8Array() }, wallNow } as unknown as Submission;
}

const prior = (fields: { body?: string; sealedBody?: string | null } = {}) => ({
  ...{ fingerprint: new Uint8Array(), status: 201, createdAt: created },
  ...{ body: stored, sealedBody: sealFor(submission(), complete, vault), ...fields },
});

test('secrets are added to a response, or replace its fields', () => {
  const resource = { object: 'x', sandbox: true, status: 'ok', secret: null } as const;
  expect(bodyWithSecrets(resource, { more: 0, fields: 2 }, { secret: 's', more: 1, last: 3 }, 'req_1')).toBe(
    '{"object":"x","sandbox":true,"requestId":"req_1","status":"ok","secret":"s","more":1,"fields":2,"last":3}',
  );
});

describe('a replay contains the secrets', () => {
  test.each<[what: string, retry: Retry, isShown: boolean]>([
    ['immediately', {}, true],
    ['just before half an hour has passed', { wallNow: created + 30 * minute - 1 }, true],
    ['after half an hour', { wallNow: created + 30 * minute }, false],
    ['to another key', { actor: { id: formatId('api_key', '2') } }, false],
    [
      'to the key that replaced it',
      { actor: { id: formatId('api_key', '2'), replaces: formatId('api_key', '1') } },
      true,
    ],
    [
      'to a key that replaced another one',
      { actor: { id: formatId('api_key', '3'), replaces: formatId('api_key', '2') } },
      false,
    ],
    [
      'to the key itself, which replaced another one',
      { actor: { replaces: formatId('api_key', '0') } },
      true,
    ],
    ['under another idempotency key', { key: 'other' }, false],
    ['in another application', { appId: formatId('application', '2') }, false],
  ])('%s', (_what, retry, isShown) => {
    expect(replayedBody(submission(retry), prior(), vault)).toBe(isShown ? complete : stored);
  });

  test('not when there are none', () => {
    expect(replayedBody(submission(), prior({ sealedBody: null }), vault)).toBe(stored);
  });

  test('not those of an earlier response under the same key', () => {
    const earlier = sealFor(submission({ wallNow: created - 1 }), complete, vault);
    expect(replayedBody(submission(), prior({ sealedBody: earlier }), vault)).toBe(stored);
  });
});

test('a response that was encrypted as a whole is replayed without its secrets', () => {
  const body = JSON.stringify({
    ...{ id: formatId('api_key', '1'), key: 'sbk_sandbox_abc', secret: 'whsec_abc', note: 'about whsec_abc' },
    ...{ url: 'https://x.example/console/invitation/abc', reset: 'https://x.example/console/reset/abc' },
    nested: [{ secret: 'whsec_def', name: 'x' }],
  });
  const sealed = vault.seal(body, 'app_1 key');
  expect(JSON.parse(replayedBody(submission(), prior({ body: sealed }), vault))).toEqual({
    ...{ id: formatId('api_key', '1'), note: 'about whsec_abc', nested: [{ name: 'x' }] },
  });
});
