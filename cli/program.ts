import { Command } from 'commander';
import { addAudit } from './commands/audit.ts';
import { addClock } from './commands/clock.ts';
import { addCompletion } from './commands/completion.ts';
import { addCoverage } from './commands/coverage.ts';
import { addCustomers } from './commands/customers.ts';
import { addDeliveries } from './commands/deliveries.ts';
import { addDisputes } from './commands/disputes.ts';
import { addDoctor } from './commands/doctor.ts';
import { addEvents } from './commands/events.ts';
import { addExamine } from './commands/examine.ts';
import { addFaults } from './commands/faults.ts';
import { addHealth } from './commands/health.ts';
import { addInit } from './commands/init.ts';
import { addLedger } from './commands/ledger.ts';
import { addListen } from './commands/listen.ts';
import { addLogs } from './commands/logs.ts';
import { addMcp } from './commands/mcp.ts';
import { addMigrate } from './commands/migrate.ts';
import { addOpen } from './commands/open.ts';
import { addPayments } from './commands/payments.ts';
import { addRates } from './commands/rates.ts';
import { addRefunds } from './commands/refunds.ts';
import { addReplays } from './commands/replays.ts';
import { addRequest } from './commands/request.ts';
import { addReset } from './commands/reset.ts';
import { addServer } from './commands/server.ts';
import { addSettlements } from './commands/settlements.ts';
import { addSnapshots } from './commands/snapshots.ts';
import { addStateMachines } from './commands/state-machines.ts';
import { addStatus } from './commands/status.ts';
import { addTenancy } from './commands/tenancy.ts';
import { addTransfers } from './commands/transfers.ts';
import { addTrigger } from './commands/trigger.ts';
import { addWebhookEndpoints } from './commands/webhook-endpoints.ts';
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
  addInit(program);
  addServer(program);
  addMigrate(program);
  addStatus(program);
  addHealth(program);
  addDoctor(program);
  addOpen(program);
  addListen(program);
  addTrigger(program);
  addPayments(program);
  addRefunds(program);
  addDisputes(program);
  addTransfers(program);
  addRates(program);
  addCustomers(program);
  addLedger(program);
  addSettlements(program);
  const webhooks = addWebhooks(program);
  addWebhookEndpoints(webhooks);
  addExamine(webhooks);
  addDeliveries(program);
  addReplays(program);
  addEvents(program);
  addLogs(program);
  addAudit(program);
  addClock(program);
  addFaults(program);
  addStateMachines(program);
  addCoverage(program);
  addRequest(program);
  addTenancy(program);
  addSnapshots(program);
  addReset(program);
  addMcp(program);
  addCompletion(program);
  return program;
}
