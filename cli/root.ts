import { Command } from 'commander';
import { helpCommand } from './declare.ts';
import { ownVersion } from './version.ts';

/** The options that every command takes. */
export interface GlobalOptions {
  readonly url?: string;
  readonly apiKey?: string;
  readonly json?: boolean;
  readonly color?: boolean;
}

/** The program without its commands. */
export function createRoot(): Command {
  return new Command('sandbank')
    .usage('<command> [options]')
    .description('Sandbank: a payment sandbox that runs anywhere. No real money moves.')
    .version(ownVersion(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .commandsGroup('Tools:')
    .helpCommand(...helpCommand)
    .option('--url <url>', 'server address (SANDBANK_URL; default: the server running in this folder)')
    .option('--api-key <key>', 'API key; prefer SANDBANK_API_KEY, which stays out of shell history')
    .option('--json', 'print the result, and errors, as JSON')
    .option('--no-color', 'disable colours (NO_COLOR)')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true, subcommandTerm })
    .addHelpText(
      'after',
      `
Examples:
  # run a server with its data in ./.sandbank
  $ sandbank start
  # forward signed events to your application
  $ sandbank listen --forward-to localhost:3000/webhooks
  # create a payment and capture it
  $ sandbank payments create --amount 12.50 --currency EUR
  $ sandbank payments advance pay_... --to captured
  # move the clock forward by a week
  $ sandbank clock advance 7d

Run "sandbank <command> --help" for the options and examples of a command.
Exit codes: 0 success, 1 rejected or failed, 2 wrong usage, 3 server unreachable, 4 no valid credentials.`,
    );
}

/** Names only in the list of all commands, so that each fits on a line; arguments in the list of a group. */
function subcommandTerm(command: Command): string {
  const isTop = command.parent?.parent === null;
  const argumentNames = command.registeredArguments.map((one) =>
    one.required ? `<${one.name()}>` : `[${one.name()}]`,
  );
  return [command.name(), ...(isTop ? [] : argumentNames)].join(' ');
}
