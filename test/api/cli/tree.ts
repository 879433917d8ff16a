import type { Command } from 'commander';
import { createProgram } from '../../../cli/program.ts';

export interface Leaf {
  readonly path: string;
  readonly command: Command;
}

/** All commands without subcommands, with their full command path. */
export function leaves(command = createProgram(), path = ''): readonly Leaf[] {
  if (command.commands.length === 0) return [{ path, command }];
  return command.commands.flatMap((child) => leaves(child, `${path} ${child.name()}`.trim()));
}

/** The complete `--help` output, including examples. */
export function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (chunk) => {
      text += chunk;
    },
  });
  command.outputHelp();
  return text;
}
