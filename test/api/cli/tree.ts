import type { Command } from 'commander';
import { createProgram } from '../../../cli/program.ts';

export interface Leaf {
  readonly path: string;
  readonly command: Command;
}

/** All commands that do something, with the words that lead to them. */
export function leaves(command = createProgram(), path = ''): readonly Leaf[] {
  if (command.commands.length === 0) return [{ path, command }];
  return command.commands.flatMap((child) => leaves(child, `${path} ${child.name()}`.trim()));
}

/** What `--help` prints, examples and all. */
export function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (words) => {
      text += words;
    },
  });
  command.outputHelp();
  return text;
}
