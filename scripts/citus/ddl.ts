import { type DatabaseSchema, distributedTables, type SchemaTable } from './schema.ts';

export interface Change {
  /** What Citus does not accept, and what follows from the change. */
  readonly why: string;
  readonly sql: readonly string[];
}

/** The statements that distribute a migrated database, in order. */
export interface CitusPlan {
  readonly distributed: readonly string[];
  readonly reference: readonly string[];
  /** Plain PostgreSQL, before the tables are distributed. */
  readonly changes: readonly Change[];
  /** Calls of Citus functions. */
  readonly calls: readonly string[];
  /** What Citus accepts, but what works differently or not at all. */
  readonly warnings: readonly string[];
}

/** What is lost when the triggers with a function are dropped. */
const lostTriggers: Readonly<Record<string, string>> = {
  refuse_change:
    'Append-only tables are no longer protected by the database. `sandbank verify` still finds changed audit rows.',
  refuse_early_deletion:
    'The database no longer refuses to delete the audit trail of an organization too early.',
  announce_work: 'Changes are no longer announced: workers find them by polling.',
  announce_deliveries:
    'New deliveries are no longer announced: workers find them by polling, within a second.',
};

/** Functions that statements call, with the argument that is the organization. Citus copies trigger functions by itself. */
const calledFunctions: Readonly<Record<string, string | null>> = {
  'audit_digest(audit)': null,
  'hold_live_organizations(text[])': null,
  'hold_organizations(text[])': null,
  'refuse_moved_clocks(text[], text[], integer[])': null,
  'take_organization(text)': 'org_id',
};

export function citusPlan(schema: DatabaseSchema): CitusPlan {
  const isDistributed = (name: string) => distributedTables.includes(name);
  const distributed = schema.tables.filter(({ name }) => isDistributed(name));
  const reference = schema.tables.filter(({ name }) => !isDistributed(name)).toSorted(byReferences);
  // Every other table is colocated with it: rows of an organization are on one node.
  const [first = '', ...others] = distributedTables;
  return {
    distributed: distributed.map(({ name }) => name),
    reference: reference.map(({ name }) => name),
    changes: distributed.flatMap((table) => [...triggerChanges(table), ...indexChanges(table)]),
    calls: [
      ...reference.map(({ name }) => `select create_reference_table('${name}');`),
      `select create_distributed_table('${first}', 'org_id', colocate_with => 'none');`,
      ...others.map(
        (name) => `select create_distributed_table('${name}', 'org_id', colocate_with => '${first}');`,
      ),
      ...Object.entries(calledFunctions).map(([signature, argument]) =>
        argument === null
          ? `select create_distributed_function('${signature}');`
          : `select create_distributed_function('${signature}', '${argument}', colocate_with => '${first}');`,
      ),
    ],
    warnings: [...schemaWarnings(schema), ...statementWarnings],
  };
}

/** Tables that others refer to have no foreign keys themselves. */
const byReferences = (a: SchemaTable, b: SchemaTable) => foreignKeysOf(a).length - foreignKeysOf(b).length;

const foreignKeysOf = ({ constraints }: SchemaTable) =>
  constraints.filter((one) => one.includes(' FOREIGN KEY '));

function triggerChanges({ name, triggers }: SchemaTable): Change[] {
  return triggers.map((trigger) => {
    const [, own = '', called = ''] = /TRIGGER (\w+) .* EXECUTE FUNCTION (\w+)\(/.exec(trigger) ?? [];
    const lost = lostTriggers[called];
    if (lost === undefined) throw new Error(`what follows from dropping ${own} of ${name} is not described`);
    return {
      why: `Citus does not distribute tables with triggers. ${lost}`,
      sql: [`drop trigger ${own} on ${name};`],
    };
  });
}

function indexChanges({ indexes }: SchemaTable): Change[] {
  return indexes.filter(isUniqueAcrossOrganizations).map((definition) => {
    const [, index = ''] = /INDEX (\w+) ON/.exec(definition) ?? [];
    return {
      why: `Citus cannot enforce uniqueness across shards. ${index} becomes an ordinary index: a value is then unique by chance only, which is sufficient for hashes of random keys.`,
      sql: [`drop index ${index};`, `${definition.replace('CREATE UNIQUE INDEX', 'CREATE INDEX')};`],
    };
  });
}

const isUniqueAcrossOrganizations = (definition: string) =>
  definition.startsWith('CREATE UNIQUE INDEX') && !/\((?:[^()]*, )?org_id\b/.test(definition);

function schemaWarnings({ tables, sequences, functions }: DatabaseSchema): string[] {
  const distributedForeignKeys = tables
    .filter(({ name }) => distributedTables.includes(name))
    .flatMap((table) => foreignKeysOf(table).map((key) => `${table.name}: ${key}`));
  const containing = (pattern: RegExp) =>
    functions
      .filter((text) => pattern.test(text))
      .map((text) => /FUNCTION public\.(\w+)/.exec(text)?.[1] ?? '');
  const locking = containing(/\bpg_(?:try_)?advisory_/);
  const reading = containing(new RegExp(`\\bfrom (?:${distributedTables.join('|')})\\b`)).filter(
    (name) => lostTriggers[name] === undefined,
  );
  return [
    ...distributedForeignKeys.map(
      (key) => `Foreign key of a distributed table, to be checked by hand: ${key}`,
    ),
    `Sequences (${sequences.join(', ')}): each node that inserts uses its own range, so values are unique but not in order.`,
    `Advisory locks (${locking.join(', ')}) are held on the node that evaluates the function, which Citus chooses for each statement: a reset may not exclude concurrent writes.`,
    `Functions that read distributed tables (${reading.join(', ')}) fail when Citus evaluates them on a shard: it does not allow nested distributed queries there.`,
  ];
}

const statementWarnings: readonly string[] = [
  'Citus 14 needs PostgreSQL 16 or newer.',
  'Writes: a batch is one statement with an INSERT for each table in common table expressions. The router planner of Citus refuses INSERT there ("Router planner doesn\'t support INSERT common table expressions"), so the coordinator evaluates the statement and copies the rows to the shards, also for one organization.',
  'Batches of several organizations: a distributed transaction with two-phase commit over all nodes involved.',
  'Row locks (`for update`, `skip locked`) work only in a statement for one organization: Citus refuses them otherwise ("could not run distributed query with FOR UPDATE/SHARE commands"). Batches that lock records, and claims of deliveries, lock rows of several organizations.',
  'Statements of workers over all organizations with recursive common table expressions fail ("recursive CTEs are only supported when they contain a filter on the distribution column"): polls for deliveries and timers, and metrics of the backlog.',
  'Statements that find rows by `ctid` or compare `xmin` are valid only on the node of the shard: positions in the event stream become invalid when Citus moves a shard.',
  'NOTIFY on a worker node does not reach LISTEN on the coordinator.',
  'A read over several shards has no common snapshot: exports of all organizations and `sandbank verify` can see parts of a transaction.',
  'Lookups by the hash of a key or token ask every shard.',
];

export function citusSql(schema: DatabaseSchema): string {
  const { changes, calls, warnings } = citusPlan(schema);
  const reasons = [...new Set(changes.map(({ why }) => why))];
  const comment = (text: string) => `-- ${text}`;
  return `${[
    comment(
      'Distributes a migrated database by organization. Written from the source of Citus 14 and never run on Citus.',
    ),
    comment('Sandbank does not work on the result yet:'),
    ...warnings.map((text) => comment(`* ${text}`)),
    '',
    ...reasons.flatMap((why) => [
      comment(why),
      ...changes.filter((one) => one.why === why).flatMap(({ sql }) => sql),
      '',
    ]),
    'create extension if not exists citus;',
    ...calls,
  ].join('\n')}\n`;
}
