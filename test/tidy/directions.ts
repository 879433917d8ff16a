import { type Import, importsOf, resolve } from './imports.ts';
import { isCode, isTest, type Rule, type Source, type Violation } from './source.ts';

/**
 * Allowed imports. The first law whose pattern matches a file applies to it. In a pattern `*` is one name, and a trailing slash
 * means everything below. In a target `@` is the name that `*` matched, so the file's own resource. A target that starts with
 * `type ` may be imported with `import type` only.
 */
const slice = (...files: readonly string[]) => files.map((file) => `src/resources/*/${file}.ts`);
const deciding = slice('table', 'machine', 'commands', 'advance', 'scenario');
const pure = ['src/kernel/', 'src/ledger/', ...deciding];
const reads = slice('store', 'views');

const laws: readonly (readonly [of: string, may: readonly string[]])[] = [
  ['src/kernel/', ['src/kernel/']],
  ['src/ledger/', ['src/ledger/', 'src/kernel/']],
  ['src/resources/*/table.ts', ['src/kernel/', 'src/resources/*/table.ts']],
  ['src/resources/*/machine.ts', pure],
  ['src/resources/*/commands.ts', pure],
  ['src/resources/*/advance.ts', pure],
  ['src/resources/*/scenario.ts', pure],
  ['src/resources/*/prepare.ts', [...pure, ...reads, 'src/delivery/destination.ts']],
  [
    'src/resources/*/store.ts',
    [
      'src/kernel/',
      'type src/db/',
      ...slice('table'),
      'src/resources/@/machine.ts',
      'src/resources/@/commands.ts',
      'src/resources/@/views.ts',
    ],
  ],
  ['src/resources/*/views.ts', ['src/kernel/', 'src/resources/*/table.ts']],
  [
    'src/resources/*/api.ts',
    [
      'src/kernel/',
      'src/ledger/accounts.ts',
      'src/ledger/fx-rates.ts',
      'src/ledger/settlement.ts',
      'src/examiner/schema.ts',
      ...deciding,
      ...reads,
      'src/resources/@/prepare.ts',
      'sdk/amount.ts',
    ],
  ],
  ['src/resources/events/', [...pure, 'src/resources/events/']],
  ['src/resources/requests/', ['src/kernel/', 'src/resources/requests/']],
  ['src/resources/index.ts', ['src/kernel/', 'src/provider/index.ts', 'src/resources/']],
  // The engine is the only writer. It imports the tables of a resource and nothing else.
  [
    'src/engine/',
    ['src/engine/', 'src/kernel/', 'src/db/', 'src/resources/*/table.ts', 'type src/telemetry/ports.ts'],
  ],
  [
    'src/snapshots/',
    [
      'src/snapshots/',
      'src/engine/',
      'src/kernel/',
      'src/db/',
      ...pure,
      ...reads,
      'src/delivery/signature.ts',
      'src/delivery/custom-headers.ts',
    ],
  ],
  ['src/provider/', ['src/provider/', 'src/kernel/']],
  ['src/examiner/', ['src/examiner/', 'src/kernel/']],
  [
    'src/db/',
    ['src/db/', 'src/kernel/', 'src/local/paths.ts', 'type src/config.ts', 'type src/telemetry/ports.ts'],
  ],
  ['src/local/', []],
  // Telemetry observes the other modules: it imports their types, the wrapper of a database and its failures.
  [
    'src/telemetry/',
    [
      'src/telemetry/',
      'src/kernel/',
      'src/db/failure.ts',
      'src/db/observed.ts',
      'type src/db/',
      'type src/engine/',
      'type src/config.ts',
    ],
  ],
  [
    'src/identity/',
    ['src/identity/', 'src/kernel/', 'src/engine/ids.ts', 'src/db/delete-in-batches.ts', 'type src/db/'],
  ],
  [
    'src/http/',
    [
      ...['src/http/', 'src/kernel/', 'src/engine/', 'src/identity/', 'src/local/paths.ts', 'src/resources/'],
      ...['src/db/failure.ts', 'src/snapshots/format.ts', 'sdk/nearest.ts', 'type src/telemetry/'],
    ],
  ],
  [
    'src/delivery/',
    [
      'src/delivery/',
      'src/engine/',
      'src/db/array.ts',
      'type src/db/',
      // An inbox verifies deliveries like the receiver of a user.
      'sdk/received-headers.ts',
      'sdk/signature.ts',
      'sdk/signature-diagnosis.ts',
      ...pure,
      ...reads,
      'type src/telemetry/ports.ts',
    ],
  ],
  [
    'src/workers/',
    [
      'src/workers/',
      'src/engine/',
      'src/db/failure.ts',
      ...pure,
      ...reads,
      'src/resources/requests/',
      ...['type src/delivery/', 'type src/runs/', 'type src/telemetry/ports.ts'],
    ],
  ],
  [
    'src/runs/',
    [
      'src/runs/',
      'src/engine/',
      'src/delivery/',
      'src/examiner/',
      'src/snapshots/',
      'type src/workers/',
      ...pure,
      ...reads,
    ],
  ],
  ['src/config.ts', ['src/kernel/', 'src/db/database-url.ts', 'src/http/host-list.ts']],
  [
    'src/admin/',
    [
      ...[
        'src/admin/',
        'src/kernel/',
        'src/config.ts',
        'src/db/',
        'src/engine/',
        'src/http/validate.ts',
        'type src/http/operator.ts',
        'src/resources/',
      ],
      ...[
        'src/delivery/',
        'src/provider/',
        'src/runs/',
        'src/snapshots/',
        'src/server.ts',
        'type src/identity/',
      ],
    ],
  ],
  ['src/server.ts', ['src/']],
  ['src/assembly/', ['src/']],
  ['src/start/', ['src/']],
  ['src/embedded.ts', ['src/config.ts', 'src/server.ts']],
  ['src/boot.ts', ['src/config.ts', 'src/start/early-start.ts', 'src/main.ts']],
  ['src/main.ts', ['src/']],
  ['sdk/testing/server.ts', ['sdk/', 'src/embedded.ts']],
  ['sdk/', ['sdk/']],
  // The commands that open the database or start the server. The others use the HTTP API.
  ['cli/commands/start.ts', ['cli/', 'src/boot.ts', 'type src/config.ts']],
  ['cli/commands/users.ts', ['cli/', 'src/main.ts', 'type src/admin/users.ts']],
  ['cli/commands/verify.ts', ['cli/', 'src/main.ts']],
  ['cli/commands/migrate.ts', ['cli/', 'src/main.ts']],
  ['cli/checks/database.ts', ['cli/', 'src/main.ts']],
  ['cli/commands/examine.ts', ['cli/', 'sdk/', 'src/examiner/']],
  ['cli/', ['cli/', 'sdk/']],
  [
    'console/',
    [
      'console/',
      'sdk/amount.ts',
      'sdk/generated/operations.ts',
      'type sdk/operation.ts',
      'type sdk/generated/shapes.ts',
    ],
  ],
];

/** Imports follow the laws. Tests in other folders, benchmarks and scripts are unrestricted. */
export const directions: Rule = (tree) =>
  tree
    .filter((file) => isCode(file.path) && /^(src|sdk|cli|console)\//.test(file.path))
    .flatMap(violationsOf);

function violationsOf(file: Source): Violation[] {
  // A test next to the code obeys the law of the tested file. It may also use the models and the in-memory command runner. A test
  // that needs more belongs in test/.
  const subject = isTest(file.path) ? subjectOf(file.path) : file.path;
  const law = targetsOf(subject);
  const may =
    law && isTest(file.path)
      ? [...law, 'test/model/', 'test/support/command-runner.ts', 'type test/support/']
      : law;
  if (may === undefined) {
    return [
      {
        file: file.path,
        line: 1,
        rule: 'directions',
        message: 'no law matches this file; see test/tidy/directions.ts',
      },
    ];
  }
  return importsOf(file).flatMap((one) => {
    const message = problemOf(subject, may, one);
    return message === undefined ? [] : [{ file: file.path, line: one.line, rule: 'directions', message }];
  });
}

function problemOf(subject: string, may: readonly string[], one: Import): string | undefined {
  if (one.specifier === undefined)
    return 'an import whose target is computed cannot be checked; write the path out';
  const target = resolve(subject, one.specifier);
  if (target === undefined || target === subject) return undefined;
  // Data files, migration folders and the like are not code; a URL may name them too.
  if (!isCode(target) && (one.kind === 'url' || /\.\w+$/.test(target))) return undefined;
  if (may.some((pattern) => fits(target, pattern))) return undefined;
  if (may.some((pattern) => pattern.startsWith('type ') && fits(target, pattern.slice(5)))) {
    return one.typeOnly ? undefined : `may use ${target} with \`import type\` only`;
  }
  return `may not import ${target}; allowed: ${may.join(', ')}`;
}

/** A test that is not named after a file of its slice obeys the law of the slice's machine. */
function subjectOf(test: string): string {
  const path = test.replace(/\.test(\.tsx?)$/, '$1');
  return targetsOf(path) === undefined
    ? path.replace(/^(src\/resources\/[^/]+\/)[^/]+$/, '$1machine.ts')
    : path;
}

/** A file of a slice may have a prefix, for a part of the resource: `webhooks/replay-store.ts` is a store. */
function withoutPart(path: string): string {
  return path.replace(
    /^(src\/resources\/[^/]+\/)[a-z-]+-(table|machine|commands|advance|scenario|prepare|store|api|views)\.ts$/,
    '$1$2.ts',
  );
}

function targetsOf(subject: string): readonly string[] | undefined {
  const law = laws.find(([of]) => fits(subject, of));
  const own = subject.split('/')[2] ?? '';
  return law?.[1].map((target) => target.replace('@', own));
}

function fits(file: string, pattern: string): boolean {
  const path = withoutPart(file);
  const expression = pattern.replaceAll('.', '\\.').replaceAll('*', '[^/]+');
  return new RegExp(`^${expression}${pattern.endsWith('/') ? '' : '$'}`).test(path);
}
