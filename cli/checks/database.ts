import { type Finding, fail, type Looking, ok, warn } from './check.ts';

/** Opens the database itself, which needs no server; the embedded one only when no server has it open. */
export async function checkDatabase(
  { session, data }: Looking,
  isReachable: boolean,
): Promise<readonly Finding[]> {
  const { inspectDatabase } = await import('../../src/main.ts');
  try {
    const { where, kind, version, pending } = await inspectDatabase({ data, env: session.env });
    const reached = ok('database', `${where}, ${kind === 'pglite' ? 'PGlite' : 'PostgreSQL'} ${version}`);
    const schema =
      pending.length === 0
        ? ok('migrations', 'the schema is up to date')
        : warn(
            'migrations',
            `missing: ${pending.join(', ')}`,
            'Start the server, or run "sandbank migrate".',
          );
    return [reached, schema];
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    if (/is in use by process/.test(words) && isReachable)
      return [ok('database', `open in the running server: ${words.replace(/;.*$/, '')}`)];
    if (/is in use|is locked/.test(words))
      return [
        warn(
          'database',
          words,
          'It has another owner, and the server did not answer at this address: give --url, or stop that process.',
        ),
      ];
    if (/There is no database in|in memory/.test(words)) return [ok('database', words)];
    return [
      fail(
        'database',
        words,
        session.env.DATABASE_URL
          ? 'Check DATABASE_URL, and that PostgreSQL 15 or newer runs there.'
          : 'Read what it says; a copy of the data directory is a good idea.',
      ),
    ];
  }
}
