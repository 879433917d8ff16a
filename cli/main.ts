import { exits } from './problem.ts';
import { runCommand } from './run-command.ts';

/** The `sandbank` command. It sets `process.exitCode` instead of exiting, so that all output is written first. */
export async function main(argv: readonly string[]): Promise<void> {
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', endWithReader);
  process.exitCode = await runCommand(argv.length === 0 ? ['--help'] : argv);
}

/** The reader of the pipe has closed it, as `head` does. */
function endWithReader(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(exits.fine);
  throw error;
}
