import type { Command } from 'commander';
import { type Exit, exits } from './problem.ts';
import type { Session } from './session.ts';

/** How a value is read from the command line; with a second argument it collects. */
export type Read = (value: string, before: never) => unknown;

export interface Spec<Options extends object> {
  readonly summary: string;
  /** More than a line of what it does. */
  readonly details?: string;
  readonly options?: readonly (readonly [
    flags: string,
    words: string,
    read?: Read | undefined,
    byDefault?: unknown,
  ])[];
  /** Each a command without the word `sandbank`, and what it does. */
  readonly examples: readonly (readonly [command: string, words?: string])[];
  /** Ends well unless it says otherwise. */
  readonly run: (session: Session, options: Options, ...args: string[]) => Promise<Exit | undefined>;
}

type Opening = (command: Command) => Session;

/** How sessions are opened; set by whoever runs the program. */
const openings = new WeakMap<Command, Opening>();
const endings = new WeakMap<Command, (exit: Exit) => void>();

export function onRun(program: Command, open: Opening, end: (exit: Exit) => void): void {
  openings.set(program, open);
  endings.set(program, end);
}

/** Declares a command. `usage` is its name with its arguments, such as `get <id>`. */
export function declare<Options extends object = object>(
  parent: Command,
  usage: string,
  spec: Spec<Options>,
): Command {
  const command = parent
    .command(usage)
    .summary(spec.summary)
    .description(spec.details ? `${spec.summary}. ${spec.details}` : `${spec.summary}.`);
  for (const [flags, words, read, byDefault] of spec.options ?? [])
    if (read) command.option(flags, words, read as (value: string, before: unknown) => unknown, byDefault);
    else command.option(flags, words, byDefault as string | undefined);
  command.addHelpText('after', `\n${examplesText(spec.examples)}`);
  return command.action(async (...given: unknown[]) => {
    const args = given.slice(0, -2).filter((one): one is string => one !== undefined);
    const top = topOf(command);
    const session = openings.get(top)?.(command);
    if (!session) throw new Error('no session can be opened for this program');
    const exit = await spec.run(session, command.opts<Options>(), ...args);
    endings.get(top)?.(exit ?? exits.fine);
  });
}

/** A word that only groups commands: alone it shows them. */
export function group(parent: Command, name: string, summary: string): Command {
  return parent.command(name).summary(summary).description(`${summary}.`);
}

function topOf(command: Command): Command {
  return command.parent === null ? command : topOf(command.parent);
}

function examplesText(examples: Spec<object>['examples']): string {
  const lines = examples.flatMap(([command, words]) => [
    ...(words === undefined ? [] : [`  # ${words}`]),
    `  $ sandbank ${command}`,
  ]);
  return ['Examples:', ...lines].join('\n');
}
