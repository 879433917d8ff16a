import { Command } from 'commander';
import { addAudit } from './commands/audit.ts';
import { addClock } from './commands/clock.ts';
import { addCompletion } from './commands/completion.ts';
import { addCoverage } from './commands/coverage.ts';
import { addCustomers } from './commands/customers.ts';
import { addDoctor } from './commands/doctor.ts';
import { addEvents } from './commands/events.ts';
import { addExamine } from './commands/examine.ts';
import { addFaults } from './commands/faults.ts';
import { addHealth } from './commands/health.ts';
import { addListen } from './commands/listen.ts';
import { addLogs } from './commands/logs.ts';
import { addMcp } from './commands/mcp.ts';
import { addMigrate } from './commands/migrate.ts';
import { addOpen } from './commands/open.ts';
import { addPayments } from './commands/payments.ts';
import { addReset } from './commands/reset.ts';
import { addServer } from './commands/server.ts';
import { addSnapshots } from './commands/snapshots.ts';
import { addStatus } from './commands/status.ts';
import { addTenancy } from './commands/tenancy.ts';
import { addTransfers } from './commands/transfers.ts';
import { addTrigger } from './commands/trigger.ts';
import { addWebhooks } from './commands/webhooks.ts';
import { ownVersion } from './version.ts';

/** The whole tree. It is declared at once, because help and completion need it; what a command does is loaded when it runs. */
export function createProgram(): Command {
  const program = new Command('sandbank')
    .description('Sandbank: a payment sandbox you can run anywhere. No real money moves.')
    .version(ownVersion(), '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .option('--url <url>', 'address of the server (SANDBANK_URL, else what "sandbank start" has noted)')
    .option('--api-key <key>', 'API key; better in SANDBANK_API_KEY, which no history keeps')
    .option('--json', 'print the result as JSON')
    .option('--no-color', 'no colours (NO_COLOR)')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('Add --help for the flags and examples.')
    .addHelpText(
      'after',
      `
Examples:
  # a server of your own, with its data in ./.sandbank
  $ sandbank start
  # events of the sandbox, signed, at your own program
  $ sandbank listen --forward-to http://127.0.0.1:3000/webhooks
  # a payment, captured
  $ sandbank payments create --amount 12.50 --currency EUR
  $ sandbank payments advance pay_... --to captured

Exit codes: 0 fine, 1 refused or failed, 2 wrong usage, 3 the server cannot be reached, 4 no valid credentials.`,
    );
  addServer(program);
  addMigrate(program);
  addStatus(program);
  addHealth(program);
  addDoctor(program);
  addOpen(program);
  addListen(program);
  addTrigger(program);
  addPayments(program);
  addTransfers(program);
  addCustomers(program);
  addExamine(addWebhooks(program));
  addEvents(program);
  addLogs(program);
  addAudit(program);
  addClock(program);
  addFaults(program);
  addCoverage(program);
  addTenancy(program);
  addSnapshots(program);
  addReset(program);
  addMcp(program);
  addCompletion(program);
  return program;
}
