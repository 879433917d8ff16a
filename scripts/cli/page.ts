import type { Command } from 'commander';
import { createProgram } from '../../cli/program.ts';

export const marker = '<!-- Below this line the page is made from the commands by `npm run golden`. -->';

/** docs/cli.md: what stands above the marker is written by hand, the commands below it come from the tree that parses them. */
export function cliPage(current: string): string {
  const [byHand = ''] = current.split(marker);
  return `${byHand}${marker}\n\n${sections(createProgram(), []).join('\n')}`;
}

function sections(command: Command, path: readonly string[]): readonly string[] {
  return command.commands.flatMap((child) => {
    const words = [...path, child.name()];
    if (child.commands.length > 0) return sections(child, words);
    return section(child, words.join(' '));
  });
}

function section(command: Command, path: string): string {
  const places = command.registeredArguments.map((one) =>
    one.required ? ` <${one.name()}>` : ` [${one.name()}]`,
  );
  const options = command.options.map(({ flags, description }) => `| \`${flags}\` | ${plain(description)} |`);
  return [
    `### \`sandbank ${path}${places.join('')}\``,
    '',
    plain(command.description()),
    '',
    ...(options.length === 0 ? [] : ['| flag | what it does |', '|---|---|', ...options, '']),
    '```sh',
    ...examplesOf(command),
    '```',
    '',
  ].join('\n');
}

/** A star or a bracket is a sign of Markdown, and a bar ends a cell. */
function plain(text: string): string {
  return text.replaceAll(/[*<>|]/g, (sign) => `\\${sign}`);
}

function examplesOf(command: Command): readonly string[] {
  let help = '';
  const quiet = { writeOut: (text: string) => (help += text) };
  command.configureOutput(quiet).outputHelp();
  const [, examples = ''] = help.split('Examples:\n');
  return examples
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^ {2}(\$ )?/, ''));
}
