import type { Command, Option } from 'commander';
import { pathOf } from '../../cli/declare.ts';
import { createProgram } from '../../cli/program.ts';

const marker = '<!-- Below this line `npm run golden` generates the page from the commands. -->';

/** docs/cli.md: the text above the marker is hand-written; the commands below it come from the tree that parses the arguments. */
export function cliPage(current: string): string {
  const [byHand = ''] = current.split(marker);
  return `${byHand}${marker}\n\n${groups(createProgram()).join('\n')}`;
}

/** The groups of `sandbank --help`: the commands of each as a table, then their sections. */
function groups(program: Command): readonly string[] {
  const headings = [...new Set(program.commands.map((command) => command.helpGroup()))];
  return headings.flatMap((heading) => {
    const commands = program.commands.filter((command) => command.helpGroup() === heading);
    const rows = commands.map((command) => `| \`${command.name()}\` | ${plain(command.summary())} |`);
    return [
      `## ${heading.replace(/:$/, '')}\n\n| command | description |\n|---|---|\n${rows.join('\n')}\n`,
      ...commands.flatMap((command) => sections(command)),
    ];
  });
}

function sections(command: Command): readonly string[] {
  return command.commands.length === 0 ? [section(command)] : command.commands.flatMap(sections);
}

function section(command: Command): string {
  const places = command.registeredArguments.map((one) =>
    one.required ? ` <${one.name()}>` : ` [${one.name()}]`,
  );
  const options = command.options.map(
    (option) => `| \`${option.flags}\` | ${plain(descriptionOf(option))} |`,
  );
  return [
    `### \`sandbank ${pathOf(command)}${places.join('')}\``,
    '',
    plain(command.description()),
    '',
    ...(options.length === 0 ? [] : ['| option | description |', '|---|---|', ...options, '']),
    '```sh',
    ...examplesOf(command),
    '```',
    '',
  ].join('\n');
}

function descriptionOf({ description, defaultValue }: Option): string {
  return defaultValue === undefined ? description : `${description} (default: ${String(defaultValue)})`;
}

/** Escapes the characters that Markdown would interpret in a table cell. */
function plain(text: string): string {
  return text.replaceAll(/[*<>|]/g, (sign) => `\\${sign}`);
}

function examplesOf(command: Command): readonly string[] {
  let help = '';
  const quiet = { writeOut: (text: string) => (help += text) };
  command.configureOutput(quiet).outputHelp();
  const [, examples = ''] = help.split('Examples:\n');
  return (examples.split('\n\n')[0] ?? '')
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^ {2}(\$ )?/, ''));
}
