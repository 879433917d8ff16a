/** Exit codes, so that scripts can distinguish the cases. They are part of the contract: docs/cli.md lists them. */
export const exits = { fine: 0, refused: 1, usage: 2, unreachable: 3, authentication: 4 } as const;
export type Exit = (typeof exits)[keyof typeof exits];

/** A failure that the user can fix. Its message is for the terminal: a sentence or two, without a stack trace. */
export class CliProblem extends Error {
  override readonly name = 'CliProblem';
  readonly exit: Exit;

  constructor(message: string, exit: Exit = exits.refused) {
    super(message);
    this.exit = exit;
  }
}

export function wrongUsage(message: string): CliProblem {
  return new CliProblem(message, exits.usage);
}

/**
 * Reports failures of the implementations in src/ in the CLI's terms: an invalid setting is wrong usage. They are matched by name and
 * not by class, because importing the classes would load the server for every command.
 */
export async function reportedAs<T>(failure: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error.name === 'ConfigProblem') throw wrongUsage(`${failure} ${error.message}`);
    if (error.name === 'CommandProblem') throw new CliProblem(`${failure} ${error.message}`);
    throw error;
  }
}
