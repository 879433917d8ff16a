import type { Command } from 'commander';
import { addAudit } from './commands/audit.ts';
import { addClock } from './commands/clock.ts';
import { addCompletion } from './commands/completion.ts';
import { addCoverage } from './commands/coverage.ts';
import { addCustomers } from './commands/customers.ts';
import { addDoctor } from './commands/doctor.ts';
import { addEvents } from './commands/events.ts';
import { addExamine } from './commands/examine.ts';
import { addFaults } from './commands/faults.ts';
import { addListen } from './commands/listen.ts';
import { addLogs } from './commands/logs.ts';
import { addMcp } from './commands/mcp.ts';
import { addMigrate } from './commands/migrate.ts';
import { addOpen } from './commands/open.ts';
import { addPayments } from './commands/payments.ts';
import { addReset } from './commands/reset.ts';
import { addSignatureCheck } from './commands/signature-check.ts';
import { addSnapshots } from './commands/snapshots.ts';
import { addStart } from './commands/start.ts';
import { addStatus } from './commands/status.ts';
import { addTenancy } from './commands/tenancy.ts';
import { addTransfers } from './commands/transfers.ts';
import { addTrigger } from './commands/trigger.ts';
import { addUsers } from './commands/users.ts';
import { addVerify } from './commands/verify.ts';
import { addWebhooks } from './commands/webhooks.ts';
import { createRoot } from './root.ts';

/**
 * The whole tree, by the groups of the help. It is declared at once, because help and completion need it; a command loads its implementation
 * when it runs.
 */
export function createProgram(): Command {
  const program = createRoot();

  program.commandsGroup('Start:');
  addStart(program);
  addStatus(program);
  addOpen(program);
  addDoctor(program);

  program.commandsGroup('Payments and customers:');
  addPayments(program);
  addTransfers(program);
  addCustomers(program);

  program.commandsGroup('Webhooks and events:');
  addListen(program);
  addTrigger(program);
  const webhooks = addWebhooks(program);
  addSignatureCheck(webhooks);
  addExamine(webhooks);
  addEvents(program);

  program.commandsGroup('Time and faults:');
  addClock(program);
  addFaults(program);

  program.commandsGroup('Inspect:');
  addLogs(program);
  addAudit(program);
  addCoverage(program);

  program.commandsGroup('Operate:');
  addTenancy(program);
  addUsers(program);
  addSnapshots(program);
  addReset(program);
  addMigrate(program);
  addVerify(program);

  program.commandsGroup('Tools:');
  addMcp(program);
  addCompletion(program);
  return program;
}
