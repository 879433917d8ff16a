import { type CheckContext, type Finding, fail, ok, warn } from './check.ts';

/** Opens the database itself, which needs no server; the embedded one only when no server has it open. */
export async function checkDatabase(
  { session, data }: CheckContext,
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
    const message = error instanceof Error ? error.message : String(error);
    if (/is in use by process/.test(message) && isReachable)
      return [ok('database', `open in the running server: ${message.replace(/;.*$/, '')}`)];
    if (/is in use|is locked/.test(message))
      return [
        warn(
          'database',
          message,
          'Another process has it open, and no server responds at this address: pass --url, or stop that process.',
        ),
      ];
    if (/There is no database in|in-memory/.test(message)) return [ok('database', message)];
    return [
      fail(
        'database',
        message,
        session.env.DATABASE_URL
          ? 'Check DATABASE_URL, and that PostgreSQL 15 or newer runs there.'
          : 'Follow the message; copy the data directory before you change it.',
      ),
    ];
  }
}
