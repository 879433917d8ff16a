import { isForServer } from './hand-over.ts';
import { exits } from './problem.ts';

/** What is meant without a command. */
const alone: Readonly<Record<string, readonly string[]>> = { '': ['--help'], '-v': ['--version'] };

/** The `sandbank` command. It sets `process.exitCode` instead of exiting, so that all output is written first. */
export async function main(argv: readonly string[]): Promise<void> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader of a pipe has had enough.
    if (error.code === 'EPIPE') process.exit(exits.fine);
    throw error;
  });
  if (isForServer(argv)) {
    const { boot } = await import('../src/boot.ts');
    return boot(argv);
  }
  const { runCommand } = await import('./run-command.ts');
  process.exitCode = await runCommand(alone[argv.join(' ')] ?? argv);
}
