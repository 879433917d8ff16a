import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Compile } from 'typebox/compile';
import { firstKeyOf, parseSeed, SeedProblem } from '../../src/admin/seed.ts';
import { SeedSchema } from '../../src/admin/seed-schema.ts';
import { findCurrency } from '../../src/kernel/currency.ts';
import { roles, scopes } from '../../src/kernel/permissions.ts';
import { settingsOf } from '../../src/resources/applications/api.ts';
import { completeSeed } from '../support/complete-seed.ts';
import { addressOf } from './engine/addresses.ts';
import { fuzz } from './engine/fuzz-test.ts';
import { mutateJson } from './engine/mutate-json.ts';

/** Typebox checks the schema, the server uses Ajv. */
const schema = Compile(SeedSchema);
const example = readFileSync(new URL('../../examples/seed.json', import.meta.url), 'utf8');

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Node = Readonly<Record<string, unknown>>;
const listOf = (node: Node, name: string) => (node[name] ?? []) as readonly Node[];
const applicationsOf = (seed: unknown) =>
  listOf(seed as Node, 'organizations').flatMap((organization) => listOf(organization, 'applications'));

/** RFC 3339 in capital letters, with a day of the calendar and an offset that PostgreSQL stores. */
function isTime(text: string): boolean {
  const [, day = '', year] =
    /^((\d{4})-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:0\d|1[0-5]):[0-5]\d)$/.exec(
      text,
    ) ?? [];
  const instant = new Date(`${day}T00:00:00Z`);
  return year !== '0000' && !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(day);
}

/** The rules that the schema does not have, by a second implementation. */
function isSound(seed: unknown): boolean {
  return applicationsOf(seed).every((application) => {
    const { rates = {} } = (application.fx ?? {}) as { rates?: object };
    const networks = listOf(application, 'apiKeys').flatMap((key) => (key.allowedCidrs ?? []) as string[]);
    const isNetwork = (text: string) => {
      const [, address = '', prefix = '0'] = /^([^/]*)(?:\/([0-9]{1,3}))?$/.exec(text) ?? [];
      const family = addressOf(address)?.family;
      return family !== undefined && Number(prefix) <= (family === 4 ? 32 : 128);
    };
    return (
      Object.keys(rates).every((pair) => pair.split('/').every((code) => findCurrency(code))) &&
      networks.every(isNetwork) &&
      listOf(application, 'apiKeys').every(
        ({ expiresAt }) => expiresAt === undefined || isTime(String(expiresAt)),
      )
    );
  });
}

/** The names in messages, such as those of all scopes, can equal a short key. */
const namesInMessages = JSON.stringify(SeedSchema);

/** Texts that must not appear in a terminal or a log. */
function secretsOf(value: unknown, name = ''): readonly string[] {
  if (typeof value === 'string')
    return ['password', 'key', 'secret'].includes(name) &&
      value.length >= 12 &&
      !namesInMessages.includes(value)
      ? [value]
      : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => secretsOf(one, key));
}

fuzz({
  name: 'seed',
  seeds: [
    example,
    JSON.stringify(completeSeed),
    '{"organizations":[]}',
    '{"$schema":"./seed.schema.json","organizations":[]}',
  ],
  dictionary: [
    ...[
      '"organizations":',
      '"users":',
      '"applications":',
      '"apiKeys":',
      '"webhooks":',
      '"allowedCidrs":',
      '"rates":',
      'EUR/USD',
      'EUR/XXX',
      '{',
      '}',
      '[',
      ']',
      ',',
    ],
    ...[...roles, ...scopes].map((name) => JSON.stringify(name)),
  ],
  lengthMax: 6_000,
  generate: (random, input) =>
    JSON.stringify(
      mutateJson(jsonOf(input) ?? completeSeed, random, [
        ...[
          'name',
          'role',
          'owner',
          'viewer',
          'key',
          'scopes',
          'expiresAt',
          '10.0.0.0/33',
          'fe80::1%eth0',
          'EUR/ABC',
          '1.5',
          '0',
          '\n',
          '\ud83d\ude00',
        ],
        ...[
          '2030-02-29T00:00:00Z',
          '2030-01-01t00:00:00z',
          '2030-01-01T24:00:00Z',
          '0000-01-01T00:00:00Z',
          '2030-01-01T00:00:00+16:00',
        ],
      ]),
    ),
  check(text) {
    const value = jsonOf(text);
    try {
      const seed = parseSeed(text, 'The seed');
      assert.deepEqual(seed, value);
      assert(schema.Check(seed), 'not accepted by the schema');
      assert(isSound(seed), 'not sound');
      const key = firstKeyOf(seed);
      assert(key === undefined || text.includes(key));
      for (const application of applicationsOf(seed)) settingsOf(application as never);
      return `accepted ${seed.organizations.length > 0} ${key !== undefined}`;
    } catch (error) {
      if (!(error instanceof SeedProblem)) throw error;
      assert(error.message.startsWith('The seed is not accepted:'));
      // A key in place of a network is shown: it is not known to be one.
      for (const secret of secretsOf(value).filter((one) => text.split(one).length === 2))
        assert(!error.message.includes(secret), 'the message has a secret');
      const isJson = value !== undefined && text.isWellFormed();
      const isRight = isJson && schema.Check(value) && isSound(value);
      // What the JSON reader refuses has its own target.
      if (isRight)
        assert.match(
          error.message,
          /Duplicate key|__proto__|U\+0000|surrogate|nested|digits|too large/,
          error.message,
        );
      const [, first = ''] = /:\s*(.*)/.exec(error.message) ?? [];
      return first.replace(/\/\S*|".*?"|\d+/g, '…').slice(0, 60);
    }
  },
});
