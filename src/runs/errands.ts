import type { Answer, Submission } from '../engine/submission.ts';
import { beginAdvance } from '../resources/clocks/machine.ts';
import { resetCoverage } from '../resources/coverage/commands.ts';
import { deleteOrganization } from '../resources/organizations/machine.ts';
import { resetOrganization } from '../resources/organizations/reset-commands.ts';
import { beginFork } from '../resources/organizations/snapshot-commands.ts';
import { beginExamination } from '../resources/webhooks/examination-commands.ts';
import type { Coverage } from '../workers/coverage.ts';
import type { ClockRunner } from './advance-run.ts';
import { type ConsoleErrandsSettings, consoleErrands } from './console-errands.ts';
import type { Examinations } from './examination-run.ts';
import { faultErrands } from './fault-errands.ts';
import { type ForkErrandSettings, forkErrand } from './fork-run.ts';
import { type Errand, type WebhookErrandsSettings, webhookErrands } from './webhook-errands.ts';

export interface ErrandSettings extends WebhookErrandsSettings, ConsoleErrandsSettings, ForkErrandSettings {
  readonly runner: ClockRunner;
  readonly examinations: Examinations;
  readonly coverage: Coverage;
  readonly reset: (submission: Submission) => Promise<Answer>;
  readonly remove: (submission: Submission) => Promise<Answer>;
}

/** The commands that take more than one transaction, by name. */
export function errandsOf(settings: ErrandSettings): ReadonlyMap<string, Errand> {
  const { engine, runner, examinations, coverage, reset, remove } = settings;
  return new Map<string, Errand>([
    ...webhookErrands(settings),
    ...consoleErrands(settings),
    ...faultErrands(settings),
    [beginAdvance.name, (submission) => runner.advance(submission)],
    [resetOrganization.name, reset],
    [deleteOrganization.name, remove],
    [beginExamination.name, (submission) => examinations.examine(submission)],
    [beginFork.name, forkErrand(settings)],
    [resetCoverage.name, (submission) => coverage.flush().then(() => engine.submit(submission))],
  ]);
}
