import { type Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { type Exit, exits, wrongUsage } from './problem.ts';
import type { Choices } from './reading.ts';
import type { Session } from './session.ts';

/** How a value is read from the command line; with a second argument it collects. A closed set also has its choices. */
type Read = ((value: string, before: never) => unknown) & Partial<Choices>;

export interface Spec<Options extends object> {
  /** One short line, without a period. */
  readonly summary: string;
  /** Further sentences for the help of the command. */
  readonly details?: string;
  readonly options?: readonly (readonly [
    flags: string,
    description: string,
    read?: Read | undefined,
    byDefault?: unknown,
  ])[];
  /** Readers that validate arguments, by the argument's name. The command still receives the text. */
  readonly arguments?: Readonly<Record<string, Read>>;
  /** Command lines without `sandbank`, with a description. */
  readonly examples: readonly (readonly [command: string, description?: string])[];
  /** Text after the examples. */
  readonly notes?: string;
  /** Returns the exit code; undefined is success. */
  readonly run: (session: Session, options: Options, ...args: string[]) => Promise<Exit | undefined>;
}

type Opening = (command: Command) => Session;

/** How sessions are opened; set by `onRun`. */
const openings = new WeakMap<Command, Opening>();
const endings = new WeakMap<Command, (exit: Exit) => void>();
const choicesByParameter = new WeakMap<Option | Argument, Choices>();

export function onRun(program: Command, open: Opening, end: (exit: Exit) => void): void {
  openings.set(program, open);
  endings.set(program, end);
}

/** The closed set of an option or argument, for shell completion. */
export function choicesOf(parameter: Option | Argument): Choices | undefined {
  return choicesByParameter.get(parameter);
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
  for (const [flags, description, read, byDefault] of spec.options ?? []) {
    const option = new Option(flags, description).default(byDefault);
    if (read) {
      option.argParser(reported(read, `a valid value for ${option.long}`));
      remember(option, read);
    }
    command.addOption(option);
  }
  for (const argument of command.registeredArguments) {
    const read = spec.arguments?.[argument.name()];
    if (read === undefined) continue;
    const check = reported(read, `a valid ${argument.name()}`);
    argument.argParser((text: string) => {
      check(text, undefined);
      return text;
    });
    remember(argument, read);
  }
  command.addHelpText('after', `\n${examplesText(spec.examples)}${spec.notes ? `\n\n${spec.notes}` : ''}`);
  return command.action(async (...parserArguments: unknown[]) => {
    const args = parserArguments.slice(0, -2).filter((one): one is string => one !== undefined);
    const top = topOf(command);
    const session = openings.get(top)?.(command);
    if (!session) throw new Error('onRun was not called for this program');
    const exit = await spec.run(session, command.opts<Options>(), ...args);
    endings.get(top)?.(exit ?? exits.fine);
  });
}

/** `help` of the program and of each group. */
export const helpCommand = ['help [command]', 'Show the help of a command'] as const;

/** A command that only groups others. Alone it shows their help. */
export function group(parent: Command, name: string, summary: string): Command {
  return parent
    .command(name)
    .summary(summary)
    .description(`${summary}.`)
    .helpCommand(...helpCommand);
}

/** The full name of a command, such as `payments create`. */
export function pathOf(command: Command): string {
  return command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim();
}

function topOf(command: Command): Command {
  return command.parent === null ? command : topOf(command.parent);
}

/** Reports an invalid value as wrong usage, with a message that names the value and its option or argument. */
function reported(read: Read, what: string): (text: string, before: unknown) => unknown {
  return (text, before) => {
    try {
      return read(text, before as never);
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      throw wrongUsage(`"${text}" is not ${what}. ${error.message}`);
    }
  };
}

function remember(parameter: Option | Argument, { choices, isList = false }: Read): void {
  if (choices !== undefined) choicesByParameter.set(parameter, { choices, isList });
}

function examplesText(examples: Spec<object>['examples']): string {
  const lines = examples.flatMap(([command, description]) => [
    ...(description === undefined ? [] : [`  # ${description}`]),
    `  $ sandbank ${command}`,
  ]);
  return ['Examples:', ...lines].join('\n');
}
