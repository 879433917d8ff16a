import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { valuesFile } from '../scripts/cli/values.ts';
import { brunoCollection } from '../scripts/collections/bruno.ts';
import { parseHttp } from '../scripts/collections/http-file.ts';
import { intellijFile } from '../scripts/collections/intellij.ts';
import { generateConsole } from '../scripts/console/generate.ts';
import { consoleSchemas } from '../scripts/console/schemas.ts';
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
import { examinationsTable } from '../src/resources/webhooks/examination-table.ts';
import { webhookHealthTable } from '../src/resources/webhooks/table.ts';
import type { Server } from '../src/server.ts';
import { type Exchange, runExamples } from './contract/walk.ts';
import { dumpSchema, readColumns } from './support/schema-dump.ts';
import { databaseKinds, openServer } from './support/server.ts';
import { exempt } from './tidy/tenancy.ts';

/**
 * Golden files are generated from the code and committed with it, so that a diff shows every change that users will see.
 * `npm run golden` runs this file with UPDATE_GOLDEN=1, which rewrites them.
 */
async function expectGolden(path: string, content: string, mayWrite = true): Promise<void> {
  const file = new URL(`../${path}`, import.meta.url);
  if (process.env.UPDATE_GOLDEN === '1' && mayWrite) {
    await mkdir(new URL('.', file), { recursive: true });
    await writeFile(file, content);
  }
  const committed = await readFile(file, 'utf8').catch(() => '');
  expect(
    committed,
    `${path} is stale: run \`npm run golden\` and review the diff${firstDifference(committed, content)}`,
  ).toBe(content);
}

/** Vitest shows only the beginning of long texts. */
function firstDifference(committed: string, content: string): string {
  const [old, now] = [committed.split('\n'), content.split('\n')];
  const line = old.findIndex((text, index) => text !== now[index]);
  if (committed === content || line < 0) return '';
  const [before, after] = [old[line] ?? '', now[line] ?? ''];
  let column = 0;
  while (before[column] === after[column] && column < before.length) column += 1;
  const around = (text: string) => text.slice(Math.max(0, column - 80), column + 80);
  return ` (line ${line + 1}, column ${column + 1}: committed ${around(before)}, generated ${around(after)})`;
}

interface Operations {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { operationId: string }>>>>;
}

// The OpenAPI document includes the examples of the file, so the file is written before.
const examples = await runExamples();
const examplesPath = 'docs/examples.json';
if (process.env.UPDATE_GOLDEN === '1') await expectGolden(examplesPath, linesOf(examples));

const document = openApiDocument(routes, eventCatalogue, 'http://127.0.0.1:4000');
const codes = Object.keys(errorCatalogue) as ErrorCode[];

/** One line for each operation, so that a diff shows which responses have changed. */
function linesOf(exchanges: Readonly<Record<string, Exchange>>): string {
  const lines = Object.entries(exchanges).map(
    ([name, one]) => `${JSON.stringify(name)}: ${JSON.stringify(one)}`,
  );
  return `{\n${lines.join(',\n')}\n}\n`;
}

test('docs/examples.json has the responses of a server to a call of every operation', async () => {
  await expectGolden(examplesPath, linesOf(examples));
  const ending = routes.filter((route) => !isStream(route));
  expect(Object.keys(examples)).toEqual(ending.map(({ operationId }) => operationId));
});

test('docs/openapi.json is the OpenAPI document of the server', () =>
  expectGolden('docs/openapi.json', `${JSON.stringify(document, null, 2)}\n`));

test('schemas/seed.schema.json is the schema that validates seed files', () =>
  expectGolden('schemas/seed.schema.json', `${JSON.stringify(seedSchemaDocument, null, 2)}\n`));

test.each([...generateSdk(JSON.parse(JSON.stringify(document)) as ApiDocument)])(
  '%s is generated from the OpenAPI document',
  (path, text) => expectGolden(path, text),
);

test.each([
  ...generateConsole(
    JSON.parse(JSON.stringify(document)) as ApiDocument,
    consoleSchemas(),
    Object.keys(limits),
  ),
])('%s is generated from the OpenAPI document and the console routes', (path, text) =>
  expectGolden(path, text),
);

test('every $ref in the OpenAPI document resolves', () => {
  for (const [, path = ''] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const found = path
      .split('/')
      .reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], document);
    expect(found, path).toBeDefined();
  }
});

test('docs/states.md has the state machines, with a diagram for each', () =>
  expectGolden('docs/states.md', toMarkdown(statesReference(resources))));

test('docs/events.md has the event catalogue, with an example for each resource', () =>
  expectGolden('docs/events.md', toMarkdown(eventsReference(eventCatalogue))));

test('docs/scenarios.md has the scenarios of the simulated provider', () =>
  expectGolden('docs/scenarios.md', toMarkdown(scenariosReference())));

test('cli/generated/values.ts has the closed sets of the OpenAPI document', () =>
  expectGolden('cli/generated/values.ts', valuesFile(JSON.parse(JSON.stringify(document)) as ApiDocument)));

test('docs/cli.md has the current commands', async () => {
  // Imported here, because the commands import the values that the test above writes.
  const { cliPage } = await import('../scripts/cli/page.ts');
  await expectGolden(
    'docs/cli.md',
    cliPage(await readFile(new URL('../docs/cli.md', import.meta.url), 'utf8')),
  );
});

describe('collections generated from examples/sandbank.http', () => {
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

/** Numbers in examples on hand-written pages: the first group stays, the number after it is replaced. */
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

test('docs/errors.md has the error catalogue', () => expectGolden('docs/errors.md', errorsMarkdown()));

describe('the error catalogue', () => {
  test.each(codes)('%s describes the problem and the fix', (code) => {
    const { description, resolution, status } = errorCatalogue[code];
    expect(description).toMatch(/^[A-Z].+\.$/);
    expect(resolution).toMatch(/^[A-Z].+\.$/);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
  });

  test('stores only final errors for replay, and marks as retryable only errors that a retry can resolve', () => {
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

  test('migrations/schema.golden.txt is the schema after all migrations', async () => {
    // PGlite writes the file, and PostgreSQL must match it.
    const dump = await dumpSchema(server.database);
    await expectGolden('migrations/schema.golden.txt', dump, kind === 'pglite');
  });

  test.each(resources)(
    'the status constraint of $name has exactly the states of its machine',
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
      examinationsTable,
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
    'the table definition of $name has the columns of the database, with their types',
    async (table) => {
      const columns = await readColumns(server.database, table.name);
      const inDatabase = columns.map(
        ({ column, type }) => `${column} ${type.replace(' with time zone', 'tz')}`,
      );
      expect(table.columns.map(({ column, type }) => `${column} ${type}`).sort()).toEqual(inDatabase.sort());
    },
  );

  test.each(described)('the table definition of $name has its primary key, org_id first', async (table) => {
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

  // Audit seals and deleted organizations are written and read only in SQL.
  const undescribed: ReadonlySet<string> = new Set([
    ...exempt.keys(),
    ...['audit_seals', 'deleted_organizations'],
  ]);

  test('every organization table has a table definition', async () => {
    const tables = await server.database.query<{ name: string }>(
      { name: '', text: `select tablename::text as name from pg_tables where schemaname = 'public'` },
      [],
    );
    const names = tables.map(({ name }) => name).filter((name) => !undescribed.has(name));
    expect(names.sort()).toEqual(described.map(({ name }) => name).sort());
  });

  test('the routes under /_api are exactly the operations of the OpenAPI document', () => {
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

  test('the served document is the committed one, except for the server address', async () => {
    const served = JSON.parse((await server.app.inject('/openapi.json')).body) as Record<string, unknown>;
    expect({ ...served, servers: [] }).toEqual({ ...JSON.parse(JSON.stringify(document)), servers: [] });
  });

  test('the served schema is the shipped one', async () => {
    const { statusCode, headers, body } = await server.app.inject('/seed.schema.json');
    expect([statusCode, headers['content-type']]).toEqual([200, 'application/schema+json; charset=utf-8']);
    const shipped = await readFile(new URL('../schemas/seed.schema.json', import.meta.url), 'utf8');
    expect(JSON.parse(body)).toEqual(JSON.parse(shipped));
  });
});

/** Parses the route tree that Fastify prints: a path is the concatenation of its parts from the root. */
function servedRoutes(tree: string): string[] {
  const served: string[] = [];
  const parts: string[] = [];
  for (const line of tree.split('\n')) {
    const [, indent = '', part = '', methods] = /^([│\s]*)[├└]── (\S*)(?: \(([A-Z, ]+)\))?/.exec(line) ?? [];
    if (part === '') continue;
    parts.splice(indent.length / 4, Infinity, part);
    for (const method of methods?.split(', ') ?? []) served.push(`${method} ${parts.join('')}`);
  }
  return served;
}
