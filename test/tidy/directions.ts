import { type Import, importsOf, resolve } from './imports.ts';
import { isCode, isTest, type Rule, type Source, type Violation } from './source.ts';

/**
 * Who may import whom. The first law whose pattern fits a file is the law of that file. In a pattern `*` is one name,
 * a trailing slash means everything below. In a target `@` is the name that `*` stood for, so the file's own resource,
 * and a target that starts with `type ` may be imported with `import type` only.
 */
const laws: readonly (readonly [of: string, may: readonly string[]])[] = [
  // The SDK ships without the server, so code that both need is in the SDK.
  ['src/kernel/nearest.ts', ['sdk/nearest.ts']],
  ['src/kernel/', ['src/kernel/']],
  ['src/ledger/', ['src/ledger/', 'src/kernel/']],
  ['src/resources/*/machine.ts', ['src/kernel/', 'src/ledger/', 'src/resources/*/machine.ts']],
  ['src/resources/*/store.ts', ['src/kernel/', 'type src/db/', 'src/resources/@/machine.ts']],
  [
    'src/resources/*/api.ts',
    ['src/kernel/', 'src/ledger/accounts.ts', 'src/resources/*/machine.ts', 'src/resources/*/store.ts'],
  ],
  ['src/resources/index.ts', ['src/kernel/', 'src/provider/index.ts', 'src/resources/']],
  ['src/engine/', ['src/engine/', 'src/kernel/', 'src/db/']],
  ['src/provider/', ['src/provider/', 'src/kernel/']],
  ['src/examiner/', ['src/examiner/', 'src/kernel/']],
  ['src/db/', ['src/db/', 'src/kernel/', 'src/local/paths.ts']],
  ['src/local/paths.ts', []],
  ['src/kernel/networks.ts', []],
  // What watches the others may know their faces, and how a database is wrapped.
  [
    'src/telemetry/',
    [
      'src/telemetry/',
      'src/kernel/',
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
      'src/http/',
      'src/kernel/',
      'src/engine/',
      'src/identity/',
      'src/kernel/networks.ts',
      'src/local/paths.ts',
      'src/resources/',
      'type src/telemetry/',
    ],
  ],
  [
    'src/workers/',
    [
      'src/workers/',
      'src/kernel/',
      'src/kernel/networks.ts',
      'src/engine/',
      'src/examiner/',
      'src/resources/*/machine.ts',
      'src/resources/*/store.ts',
    ],
  ],
  ['src/config.ts', ['src/kernel/', 'src/kernel/networks.ts']],
  ['src/runs/errands.ts', ['type src/engine/', 'src/resources/', 'src/workers/']],
  ['src/db/open.ts', ['type src/config.ts', 'src/db/']],
  ['src/local/secret.ts', []],
  ['src/local/connection-file.ts', []],
  ['src/delivery/signature-check.ts', []],
  ['src/admin/snapshot-files.ts', ['src/kernel/', 'src/resources/', 'type src/server.ts', 'src/workers/']],
  [
    'src/admin/users.ts',
    [
      ...['src/config.ts', 'src/admin/database.ts', 'src/server.ts', 'src/kernel/', 'src/resources/'],
      'src/workers/',
    ],
  ],
  ['src/admin/database.ts', ['src/config.ts', 'src/db/', 'src/kernel/']],
  ['src/admin/seed-schema.ts', ['src/kernel/', 'src/provider/', 'src/resources/']],
  [
    'src/admin/seed.ts',
    [
      'src/kernel/',
      'src/engine/',
      'src/http/validate.ts',
      'type src/identity/',
      'src/kernel/networks.ts',
      'src/resources/',
      'src/admin/seed-schema.ts',
      'src/workers/',
    ],
  ],
  [
    'src/admin/verify.ts',
    [
      ...['src/db/', 'src/kernel/', 'src/resources/index.ts', 'src/resources/audit/seal-store.ts'],
      'src/admin/verify-isolation.ts',
    ],
  ],
  ['src/admin/verify-isolation.ts', []],
  ['src/admin/verify-organization.ts', ['type src/db/', 'src/kernel/', 'src/admin/verify.ts']],
  ['src/embedded.ts', ['src/config.ts', 'src/server.ts']],
  ['src/server.ts', ['src/']],
  ['src/start/banner.ts', ['type src/config.ts', 'src/admin/database.ts']],
  [
    'src/start/demo.ts',
    [
      ...[
        'src/local/connection-file.ts',
        'src/kernel/',
        'src/resources/',
        'src/admin/seed.ts',
        'type src/admin/seed-schema.ts',
      ],
      ...['type src/server.ts', 'src/workers/'],
    ],
  ],
  [
    'src/start/early-start.ts',
    ['type src/config.ts', 'src/admin/database.ts', 'src/db/', 'src/http/reserved-port.ts'],
  ],
  [
    'src/start/explain.ts',
    [
      ...['src/config.ts', 'src/admin/database.ts', 'src/db/', 'src/engine/', 'src/http/reserved-port.ts'],
      ...['src/admin/seed.ts', 'src/admin/snapshot-files.ts'],
    ],
  ],
  ['src/start/npm-parent.ts', []],
  ['src/start/start.ts', ['src/']],
  ['src/boot.ts', ['src/config.ts', 'src/start/early-start.ts', 'src/main.ts']],
  ['src/main.ts', ['src/']],
  ['sdk/testing/server.ts', ['sdk/', 'src/embedded.ts']],
  ['sdk/', ['sdk/']],
  // The commands that open the database or start the server. The others use the HTTP API.
  ['cli/commands/start.ts', ['cli/', 'src/boot.ts', 'type src/config.ts']],
  ['cli/commands/users.ts', ['cli/', 'src/main.ts', 'type src/admin/users.ts']],
  ['cli/commands/verify.ts', ['cli/', 'src/main.ts']],
  ['cli/commands/signature-check.ts', ['cli/', 'src/main.ts']],
  ['cli/commands/migrate.ts', ['cli/', 'src/main.ts']],
  ['cli/checks/database.ts', ['cli/', 'src/main.ts']],
  ['cli/reading.ts', ['cli/', 'src/kernel/nearest.ts']],
  ['cli/commands/examine.ts', ['cli/', 'sdk/', 'src/examiner/']],
  ['cli/raw-request.ts', ['cli/', 'sdk/', 'src/kernel/nearest.ts']],
  ['cli/', ['cli/', 'sdk/']],
  ['console/', ['console/', 'sdk/index.ts']],
];

/** Imports go only in the directions that the laws name. Tests elsewhere, benchmarks and scripts are free. */
export const directions: Rule = (tree) =>
  tree
    .filter((file) => isCode(file.path) && /^(src|sdk|cli|console)\//.test(file.path))
    .flatMap(violationsOf);

function violationsOf(file: Source): Violation[] {
  // A test beside the code obeys the law of the file it tests. It may also use the models and the in-memory command runner; one
  // that needs more belongs into test/.
  const subject = isTest(file.path) ? file.path.replace(/\.test(\.tsx?)$/, '$1') : file.path;
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
        message: 'no law names this file; see test/tidy/directions.ts',
      },
    ];
  }
  return importsOf(file).flatMap((one) => {
    const message = complaint(subject, may, one);
    return message === undefined ? [] : [{ file: file.path, line: one.line, rule: 'directions', message }];
  });
}

function complaint(subject: string, may: readonly string[], one: Import): string | undefined {
  if (one.specifier === undefined)
    return 'an import whose target is computed cannot be checked; write the path out';
  const target = resolve(subject, one.specifier);
  if (target === undefined || target === subject) return undefined;
  // Data files, folders of migrations and the like are no code; a URL names them too.
  if (!isCode(target) && (one.kind === 'url' || /\.\w+$/.test(target))) return undefined;
  if (may.some((pattern) => fits(target, pattern))) return undefined;
  if (may.some((pattern) => pattern.startsWith('type ') && fits(target, pattern.slice(5)))) {
    return one.typeOnly ? undefined : `may use ${target} with \`import type\` only`;
  }
  return `may not import ${target}; allowed: ${may.join(', ')}`;
}

function targetsOf(subject: string): readonly string[] | undefined {
  const law = laws.find(([of]) => fits(subject, of));
  const own = subject.split('/')[2] ?? '';
  return law?.[1].map((target) => target.replace('@', own));
}

function fits(path: string, pattern: string): boolean {
  const expression = pattern.replaceAll('.', '\\.').replaceAll('*', '[^/]+');
  return new RegExp(`^${expression}${pattern.endsWith('/') ? '' : '$'}`).test(path);
}
