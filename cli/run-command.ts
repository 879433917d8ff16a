import { CommanderError } from 'commander';
import { onRun } from './declare.ts';
import { tellFailure } from './failure.ts';
import { Output } from './output.ts';
import { exits } from './problem.ts';
import { createProgram } from './program.ts';
import { Session } from './session.ts';

/** A command that is not the server's own; these are read only when one is asked for, since a start would wait for them. */
export async function runCommand(argv: readonly string[]): Promise<void> {
  const program = createProgram();
  const outputOf = ({ json, color = true }: { json?: boolean; color?: boolean }) =>
    new Output({
      stdout: process.stdout,
      stderr: process.stderr,
      isJson: json === true,
      isColoured: color,
      env: process.env,
    });
  const environment = { env: process.env, directory: process.cwd(), stdin: process.stdin };
  onRun(
    program,
    () => {
      const asked = program.opts<{ url?: string; apiKey?: string; json?: boolean; color?: boolean }>();
      return new Session(outputOf(asked), asked, environment);
    },
    (exit) => {
      process.exitCode = exit;
    },
  );
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    // Commander has said it already, be it help or a complaint.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? exits.fine : exits.usage;
    else process.exitCode = tellFailure(outputOf(program.opts()), error);
  }
}
