import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cliPage } from '../scripts/cli/page.ts';
import { valuesFile } from '../scripts/cli/values.ts';
import { brunoCollection } from '../scripts/collections/bruno.ts';
import { parseHttp } from '../scripts/collections/http-file.ts';
import { intellijFile } from '../scripts/collections/intellij.ts';
import type { ApiDocument } from '../scripts/sdk/document.ts';
import { generateSdk } from '../scripts/sdk/generate.ts';
import { seedSchemaDocument } from '../src/admin/seed-schema.ts';
import { idempotencyTable, storedSecretsTable } from '../src/engine/answers.ts';
import { outcomes } from '../src/examiner/schema.ts';
import { openApiDocument } from '../src/http/openapi.ts';
import {
  errorsMarkdown,
  eventsReference,
  scenariosReference,
  statesReference,
  toMarkdown,
} from '../src/http/reference.ts';
import { type ErrorCode, errorCatalogue } from '../src/kernel/errors.ts';
import { limits } from '../src/kernel/limits.ts';
import { isStream } from '../src/kernel/route.ts';
import type { Table } from '../src/kernel/table.ts';
import { auditTable } from '../src/resources/audit/table.ts';
import { timersTable } from '../src/resources/clocks/timer-table.ts';
import { coverageTable } from '../src/resources/coverage/table.ts';
import { eventsTable } from '../src/resources/events/table.ts';
import { providerEventsTable } from '../src/resources/history/provider-event-table.ts';
import { historyTable } from '../src/resources/history/table.ts';
import { coverageUniverse, eventCatalogue, resources, routes } from '../src/resources/index.ts';
import { balancesTable, ledgerEntriesTable } from '../src/resources/ledger/table.ts';
import { keyUsesTable, numberedRequestsTable, requestMinutesTable } from '../src/resources/requests/table.ts';
import { settlementLinesTable } from '../src/resources/settlements/table.ts';
import { attemptsTable, deliveriesTable } from '../src/resources/webhooks/delivery-table.ts';
import { webhookHealthTable } from '../src/resources/webhooks/table.ts';
import type { Server } from '../src/server.ts';
import { type Exchange, playExamples } from './contract/walk.ts';
import { dumpSchema, readColumns } from './support/schema-dump.ts';
import { databaseKinds, openServer } from './support/server.ts';
import { exempt } from './tidy/tenancy.ts';

/**
 * Golden files are generated from the code and kept beside it, so that what users will see changes in plain view.
 * `npm run golden` runs this file with UPDATE_GOLDEN=1, which writes them anew.
 */
async function expectGolden(path: string, content: string, isMaker = true): Promise<void> {
  const file = new URL(`../${path}`, import.meta.url);
  if (process.env.UPDATE_GOLDEN === '1' && isMaker) {
    await mkdir(new URL('.', file), { recursive: true });
    await writeFile(file, content);
  }
  const kept = await readFile(file, 'utf8').catch(() => '');
  expect(
    kept,
    `${path} is stale: run \`npm run golden\`, and read the difference${firstDifference(kept, content)}`,
  ).toBe(content);
}

/** Vitest shows only the beginning of long texts. */
function firstDifference(kept: string, content: string): string {
  const [old, now] = [kept.split('\n'), content.split('\n')];
  const line = old.findIndex((text, index) => text !== now[index]);
  if (kept === content || line < 0) return '';
  const [before, after] = [old[line] ?? '', now[line] ?? ''];
  let column = 0;
  while (before[column] === after[column] && column < before.length) column += 1;
  const around = (text: string) => text.slice(Math.max(0, column - 80), column + 80);
  return ` (line ${line + 1}, column ${column + 1}: kept ${around(before)}, generated ${around(after)})`;
}

interface Operations {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { operationId: string }>>>>;
}

// The document shows them, and reads them when it is first made: they must be there before it.
const examples = await playExamples();
const examplesPath = 'docs/examples.json';
if (process.env.UPDATE_GOLDEN === '1') await expectGolden(examplesPath, linesOf(examples));

const document = openApiDocument(routes, eventCatalogue, 'http://127.0.0.1:4000');
const codes = Object.keys(errorCatalogue) as ErrorCode[];

/** A line for each operation: a difference shows which answers have changed. */
function linesOf(exchanges: Readonly<Record<string, Exchange>>): string {
  const lines = Object.entries(exchanges).map(
    ([name, one]) => `${JSON.stringify(name)}: ${JSON.stringify(one)}`,
  );
  return `{\n${lines.join(',\n')}\n}\n`;
}

test('docs/examples.json is what a server answers when every operation is called', async () => {
  await expectGolden(examplesPath, linesOf(examples));
  const ending = routes.filter((route) => !isStream(route));
  expect(Object.keys(examples)).toEqual(ending.map(({ operationId }) => operationId));
});

test('docs/openapi.json is what the server says of itself', () =>
  expectGolden('docs/openapi.json', `${JSON.stringify(document, null, 2)}\n`));

test('schemas/seed.schema.json is the schema that seed files are checked with', () =>
  expectGolden('schemas/seed.schema.json', `${JSON.stringify(seedSchemaDocument, null, 2)}\n`));

test.each([...generateSdk(JSON.parse(JSON.stringify(document)) as ApiDocument)])(
  '%s is what the OpenAPI document says',
  (path, text) => expectGolden(path, text),
);

test('every reference inside the OpenAPI document leads somewhere', () => {
  for (const [, path = ''] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const found = path
      .split('/')
      .reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], document);
    expect(found, path).toBeDefined();
  }
});

test('docs/states.md is what the machines say, with a diagram for each', () =>
  expectGolden('docs/states.md', toMarkdown(statesReference(resources))));

test('docs/events.md is the catalogue of events, with an example for each resource', () =>
  expectGolden('docs/events.md', toMarkdown(eventsReference(eventCatalogue))));

test('docs/scenarios.md is what the provider can be made to do', () =>
  expectGolden('docs/scenarios.md', toMarkdown(scenariosReference())));

test('cli/generated/values.ts has the closed sets of the OpenAPI document', () =>
  expectGolden('cli/generated/values.ts', valuesFile(JSON.parse(JSON.stringify(document)) as ApiDocument)));

test('docs/cli.md lists the commands as they are', async () =>
  expectGolden('docs/cli.md', cliPage(await readFile(new URL('../docs/cli.md', import.meta.url), 'utf8'))));

describe('what is derived from examples/sandbank.http', () => {
  const file = parseHttp(readFileSync(new URL('../examples/sandbank.http', import.meta.url), 'utf8'));
  const bruno = brunoCollection(file);

  test('examples/sandbank.intellij.http has the same requests', () =>
    expectGolden('examples/sandbank.intellij.http', intellijFile(file)));

  test.each([...bruno])('examples/bruno/%s is current', (path, text) =>
    expectGolden(`examples/bruno/${path}`, text),
  );

  test('examples/bruno has no other file', () => {
    const names = readdirSync(new URL('../examples/bruno/', import.meta.url), { recursive: true });
    expect(names.filter((name) => /\.\w+$/.test(String(name))).sort()).toEqual([...bruno.keys()].sort());
  });
});

/** Figures in examples of pages that are written by hand: the first group stays, the number behind it is replaced. */
const figures: readonly (readonly [page: string, figure: RegExp, value: () => number])[] = [
  ['docs/coverage.md', /("summary": \{"met": \d+, "total": )\d+/, () => coverageUniverse.length],
  [
    'docs/coverage.md',
    /("kind": "state", "met": \d+, "total": )\d+/,
    () => coverageUniverse.filter(({ kind }) => kind === 'state').length,
  ],
  [
    'docs/snapshots.md',
    /("format":"sandbank-snapshot","version":\d+,"schema":)\d+/,
    () =>
      Math.max(
        ...readdirSync(new URL('../migrations/', import.meta.url))
          .filter((name) => name.endsWith('.sql'))
          .map((name) => Number.parseInt(name, 10)),
      ),
  ],
  ['docs/clock.md', /(`seconds` above\s+)\d[\d,]*\d/, () => limits.clockAheadDaysMax * 86_400],
];

test.each(figures)('%s has the current figure for %s', async (page, figure, value) => {
  const text = await readFile(new URL(`../${page}`, import.meta.url), 'utf8');
  expect(text).toMatch(figure);
  const shown = page === 'docs/clock.md' ? value().toLocaleString('en-US') : String(value());
  await expectGolden(page, text.replace(figure, `$1${shown}`));
});

test('docs/examiner.md has a row for each outcome', async () => {
  const text = await readFile(new URL('../docs/examiner.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `(\w+)` \| (?!critical|major|minor|meaning)/gm)].map(
    ([, name]) => name,
  );
  expect(rows).toEqual([...outcomes]);
});

test('docs/errors.md is the catalogue', () => expectGolden('docs/errors.md', errorsMarkdown()));

describe('the catalogue of errors', () => {
  test.each(codes)('%s describes the problem and the fix', (code) => {
    const { description, resolution, status } = errorCatalogue[code];
    expect(description).toMatch(/^[A-Z].+\.$/);
    expect(resolution).toMatch(/^[A-Z].+\.$/);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
  });

  test('keeps only refusals that are decided, and tells to retry only what can come out differently', () => {
    for (const code of codes) {
      const { status, stored, retryable } = errorCatalogue[code];
      if (stored) expect([409, 422], code).toContain(status);
      if (retryable) expect([409, 429, 500, 503], code).toContain(status);
      expect(stored && retryable, code).toBe(false);
    }
  });
});

describe.each(databaseKinds)('on %s', (kind) => {
  let server: Server;

  beforeAll(async () => {
    server = await openServer(kind);
  });
  afterAll(() => server?.close());

  test('migrations/schema.golden.txt is what the migrations make', async () => {
    // One database writes the file, and the other must agree with it.
    const dump = await dumpSchema(server.database);
    await expectGolden('migrations/schema.golden.txt', dump, kind === 'pglite');
  });

  test.each(resources)(
    'a $name may have the states of its machine in the database, and no other',
    async ({ table, machine }) => {
      const [constraint] = await server.database.query<{ definition: string }>(
        {
          name: '',
          text: `select pg_get_constraintdef(oid) as definition from pg_constraint
          where conrelid = $1::regclass and conname = $2`,
        },
        [table.name, `${table.name}_status`],
      );
      const states = [...(constraint?.definition ?? '').matchAll(/'([^']+)'::text/g)].map(
        ([, state]) => state,
      );
      expect(states).toEqual([...machine.states]);
    },
  );

  const described: readonly Table<never>[] = [
    ...resources.map(({ table }) => table as Table<never>),
    ...[numberedRequestsTable, requestMinutesTable, keyUsesTable, coverageTable].map(
      (table) => table as Table<never>,
    ),
    ...[
      idempotencyTable,
      storedSecretsTable,
      deliveriesTable,
      attemptsTable,
      webhookHealthTable,
      auditTable,
      timersTable,
      eventsTable,
      providerEventsTable,
      historyTable,
      balancesTable,
      ledgerEntriesTable,
      settlementLinesTable,
    ].map((table) => table as Table<never>),
  ];

  test.each(described)(
    'the description of $name has the columns of the table, with their types',
    async (table) => {
      const columns = await readColumns(server.database, table.name);
      const inDatabase = columns.map(
        ({ column, type }) => `${column} ${type.replace(' with time zone', 'tz')}`,
      );
      expect(table.columns.map(({ column, type }) => `${column} ${type}`).sort()).toEqual(inDatabase.sort());
    },
  );

  test.each(described)('the description of $name has its primary key, organization first', async (table) => {
    const key = await server.database.query<{ column: string }>(
      {
        name: '',
        text: `select a.attname::text as column from pg_index i
          cross join lateral unnest(i.indkey::smallint[]) with ordinality as k(attnum, n)
          join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
          where i.indrelid = $1::regclass and i.indisprimary order by k.n`,
      },
      [table.name],
    );
    expect(key.map(({ column }) => column)).toEqual([...table.key]);
    expect(table.key[0]).toBe('org_id');
  });

  // Seals and notes of deleted organizations are written and read inside of SQL alone.
  const undescribed: ReadonlySet<string> = new Set([
    ...exempt.keys(),
    ...['audit_seals', 'deleted_organizations'],
  ]);

  test('every table of an organization has a description', async () => {
    const tables = await server.database.query<{ name: string }>(
      { name: '', text: `select tablename::text as name from pg_tables where schemaname = 'public'` },
      [],
    );
    const names = tables.map(({ name }) => name).filter((name) => !undescribed.has(name));
    expect(names.sort()).toEqual(described.map(({ name }) => name).sort());
  });

  test('what is served under /_api is what the OpenAPI document lists', () => {
    const { paths } = document as unknown as Operations;
    const listed = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
    );
    const served = servedRoutes(server.app.printRoutes({ commonPrefix: false })).filter(
      (route) => route.includes(' /_api') && !route.startsWith('HEAD '),
    );
    expect(served.sort()).toEqual(listed.sort());
    const ids = Object.values(paths).flatMap((operations) =>
      Object.values(operations).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('the document that is served is the one that is kept, but for its address', async () => {
    const served = JSON.parse((await server.app.inject('/openapi.json')).body) as Record<string, unknown>;
    expect({ ...served, servers: [] }).toEqual({ ...JSON.parse(JSON.stringify(document)), servers: [] });
  });

  test('the schema that is served is the one that is shipped', async () => {
    const { statusCode, headers, body } = await server.app.inject('/seed.schema.json');
    expect([statusCode, headers['content-type']]).toEqual([200, 'application/schema+json; charset=utf-8']);
    const shipped = await readFile(new URL('../schemas/seed.schema.json', import.meta.url), 'utf8');
    expect(JSON.parse(body)).toEqual(JSON.parse(shipped));
  });
});

/** Reads the tree that Fastify prints: a path is what stands on the way from the root. */
function servedRoutes(tree: string): string[] {
  const served: string[] = [];
  const way: string[] = [];
  for (const line of tree.split('\n')) {
    const [, indent = '', part = '', methods] = /^([│\s]*)[├└]── (\S*)(?: \(([A-Z, ]+)\))?/.exec(line) ?? [];
    if (part === '') continue;
    way.splice(indent.length / 4, Infinity, part);
    for (const method of methods?.split(', ') ?? []) served.push(`${method} ${way.join('')}`);
  }
  return served;
}
