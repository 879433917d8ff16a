import type { Writable } from 'node:stream';
import { type Command, CommanderError } from 'commander';
import { addStart } from './commands/start.ts';
import { onRun, pathOf } from './declare.ts';
import { reportFailure } from './failure.ts';
import { Output, type Sink } from './output.ts';
import { type Exit, exits, wrongUsage } from './problem.ts';
import { createRoot, type GlobalOptions } from './root.ts';
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

/** Parses the arguments, runs the command and returns its exit code. */
export async function runCommand(argv: readonly string[], io: CommandIo = processIo()): Promise<Exit> {
  const program = await programFor(argv);
  const outputOf = ({ json, color = true }: GlobalOptions) =>
    new Output({ ...io, isJson: json === true, isColoured: color });
  let exit: Exit = exits.fine;
  let failed = program;
  // Commander writes help itself; its errors are reported below. Subcommands do not inherit the setting.
  for (const command of withChildren(program))
    command.configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: () => {
        failed = command;
      },
    });
  onRun(
    program,
    () => new Session(outputOf(program.opts()), program.opts(), io),
    (ended) => {
      exit = ended;
    },
  );
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exit;
  } catch (error) {
    // The parser may fail before it reaches --json.
    const out = outputOf({ ...program.opts<GlobalOptions>(), json: argv.includes('--json') });
    if (!(error instanceof CommanderError)) return reportFailure(out, error);
    if (error.exitCode === 0) return exits.fine;
    return reportFailure(out, wrongUsage(usageMessage(error, failed, argv)));
  }
}

/** A server start loads only its own declaration: the modules of the other commands would delay it. */
async function programFor(argv: readonly string[]): Promise<Command> {
  if (argv[0] !== 'start') return (await import('./program.ts')).createProgram();
  const program = createRoot();
  addStart(program);
  return program;
}

/** Commander's message as sentences, with the help that applies. */
function usageMessage({ code, message }: CommanderError, failed: Command, argv: readonly string[]): string {
  const path = `sandbank ${pathOf(failed)}`.trim();
  if (code === 'commander.help')
    return `A command is missing after "sandbank ${argv.filter((one) => !one.startsWith('-')).join(' ')}".`;
  const plain = message.replace(/^error: /, '').replace(/\n\((Did you mean .*)\)$/, '. $1');
  const sentence = `${plain.charAt(0).toUpperCase()}${plain.slice(1)}`.replace(/(?<![.?])$/, '.');
  return `${sentence} Run "${path} --help" for help.`;
}

function withChildren(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap((child) => withChildren(child))];
}
