import type { Command } from 'commander';
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
import { addSettlements } from './commands/settlements.ts';
import { addSignatureCheck } from './commands/signature-check.ts';
import { addSnapshots } from './commands/snapshots.ts';
import { addStart } from './commands/start.ts';
import { addStateMachines } from './commands/state-machines.ts';
import { addStatus } from './commands/status.ts';
import { addTenancy } from './commands/tenancy.ts';
import { addTransfers } from './commands/transfers.ts';
import { addTrigger } from './commands/trigger.ts';
import { addUsers } from './commands/users.ts';
import { addVerify } from './commands/verify.ts';
import { addWebhookEndpoints } from './commands/webhook-endpoints.ts';
import { addWebhookInbox } from './commands/webhook-inbox.ts';
import { addWebhooks } from './commands/webhooks.ts';
import { createRoot } from './root.ts';

/**
 * The whole tree, by the groups of the help. It is declared at once, because help and completion need it; a command loads its implementation
 * when it runs.
 */
export function createProgram(): Command {
  const program = createRoot();

  program.commandsGroup('Start:');
  addInit(program);
  addStart(program);
  addStatus(program);
  addHealth(program);
  addOpen(program);
  addDoctor(program);

  program.commandsGroup('Payments and customers:');
  addPayments(program);
  addRefunds(program);
  addDisputes(program);
  addTransfers(program);
  addRates(program);
  addCustomers(program);

  program.commandsGroup('Webhooks and events:');
  addListen(program);
  addTrigger(program);
  const webhooks = addWebhooks(program);
  addWebhookInbox(webhooks);
  addWebhookEndpoints(webhooks);
  addSignatureCheck(webhooks);
  addExamine(webhooks);
  addDeliveries(program);
  addReplays(program);
  addEvents(program);

  program.commandsGroup('Time and faults:');
  addClock(program);
  addFaults(program);

  program.commandsGroup('Inspect:');
  addLogs(program);
  addAudit(program);
  addCoverage(program);
  addStateMachines(program);
  addLedger(program);
  addSettlements(program);

  program.commandsGroup('Operate:');
  addTenancy(program);
  addUsers(program);
  addSnapshots(program);
  addReset(program);
  addMigrate(program);
  addVerify(program);

  program.commandsGroup('Tools:');
  addRequest(program);
  addMcp(program);
  addCompletion(program);
  return program;
}
