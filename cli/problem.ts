/** What the command ends with, so that scripts can tell the cases apart. They are part of the contract: docs/cli.md lists them. */
export const exits = { fine: 0, refused: 1, usage: 2, unreachable: 3, authentication: 4 } as const;
export type Exit = (typeof exits)[keyof typeof exits];

/** Something a person can mend. Its message is for the terminal: a sentence or two, without a stack trace. */
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
