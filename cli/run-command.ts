import type { Writable } from 'node:stream';
import { CommanderError } from 'commander';
import { onRun } from './declare.ts';
import { tellFailure } from './failure.ts';
import { Output, type Sink } from './output.ts';
import { type Exit, exits } from './problem.ts';
import { createProgram } from './program.ts';
import { type Environment, Session } from './session.ts';

/** Everything that a command reads and writes outside of files and sockets. */
export interface CommandIo extends Environment {
  readonly stdout: Writable & Sink;
  readonly stderr: Writable & Sink;
}

function processIo(): CommandIo {
  const { stdin, stdout, stderr, env } = process;
  return { stdin, stdout, stderr, env, directory: process.cwd() };
}

/**
 * Runs a command that the server program does not handle, and returns its exit code. `main.ts` imports this module only when such a
 * command is given, because a server start would otherwise wait for it to load.
 */
export async function runCommand(argv: readonly string[], io: CommandIo = processIo()): Promise<Exit> {
  const program = createProgram();
  // Commander writes help and usage errors itself. Commands that exist already do not inherit the setting.
  for (const command of withChildren(program))
    command.configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
    });
  const outputOf = ({ json, color = true }: { json?: boolean; color?: boolean }) =>
    new Output({ ...io, isJson: json === true, isColoured: color });
  let exit: Exit = exits.fine;
  onRun(
    program,
    () => {
      const asked = program.opts<{ url?: string; apiKey?: string; json?: boolean; color?: boolean }>();
      return new Session(outputOf(asked), asked, io);
    },
    (ended) => {
      exit = ended;
    },
  );
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exit;
  } catch (error) {
    // Commander has already written the help text or the usage error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exits.fine : exits.usage;
    return tellFailure(outputOf(program.opts()), error);
  }
}

function withChildren(command: ReturnType<typeof createProgram>): readonly (typeof command)[] {
  return [command, ...command.commands.flatMap((child) => withChildren(child as typeof command))];
}
