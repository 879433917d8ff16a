import { CommandProblem } from '../admin/database.ts';
import { SeedProblem } from '../admin/seed.ts';
import { SnapshotFileProblem } from '../admin/snapshot-files.ts';
import { ConfigProblem } from '../config.ts';
import { DataDirectoryLocked } from '../db/data-directory-lock.ts';
import { MigrationChanged, MigrationStuck } from '../db/migrate.ts';
import { DatabaseTooNew } from '../db/oldest-release.ts';
import { SessionsShared } from '../db/own-sessions.ts';
import { VaultProblem } from '../engine/vault.ts';
import { PortInUse } from '../http/reserved-port.ts';

/** One sentence for errors that the user can fix; a stack trace for everything else. */
export function explain(error: unknown): string {
  const isKnown =
    error instanceof ConfigProblem ||
    error instanceof CommandProblem ||
    error instanceof SeedProblem ||
    error instanceof SnapshotFileProblem ||
    error instanceof DataDirectoryLocked ||
    error instanceof MigrationChanged ||
    error instanceof MigrationStuck ||
    error instanceof SessionsShared ||
    error instanceof DatabaseTooNew ||
    error instanceof VaultProblem;
  if (isKnown) return error.message;
  if (error instanceof PortInUse) return portMessage(error.port, error.free);
  if (!(error instanceof Error)) return String(error);
  const { code, port, syscall, severity } = error as NodeJS.ErrnoException & {
    port?: number;
    severity?: string;
  };
  if (code === 'EADDRINUSE') return portMessage(port ?? 0, undefined);
  if (syscall !== undefined) return `The operating system reported an error: ${error.message}.`;
  if (error.name === 'DatabaseFailure' || severity !== undefined)
    return `The database cannot be used: ${error.message}.`;
  return error.stack ?? error.message;
}

function portMessage(port: number, free: number | undefined): string {
  return free === undefined
    ? `Port ${port} is in use. Stop the program that listens there, or choose another port with --port.`
    : `Port ${port} is in use, and ${free} is free: run "${startCommand(process.env)} --port ${free}".`;
}

/** The command that the user ran, as far as npm's variables reveal it. */
function startCommand({ npm_lifecycle_event: event }: NodeJS.ProcessEnv): string {
  if (event === 'start') return 'npm start --';
  return event === 'npx' ? 'npx sandbank start' : 'sandbank start';
}
