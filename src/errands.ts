import type { Answer, Submission } from './engine/submission.ts';
import { beginAdvance } from './resources/clocks/machine.ts';
import { resetCoverage } from './resources/coverage/machine.ts';
import { beginExamination } from './resources/examinations/machine.ts';
import { deleteOrganization } from './resources/organizations/machine.ts';
import { resetOrganization } from './resources/resets/machine.ts';
import { beginFork } from './resources/snapshots/machine.ts';
import type { ClockRunner } from './workers/clock-runner.ts';
import { type ConsoleErrandsSettings, consoleErrands } from './workers/console-errands.ts';
import type { Coverage } from './workers/coverage.ts';
import type { Examinations } from './workers/examinations.ts';
import { faultErrands } from './workers/fault-errands.ts';
import { type ForkErrandSettings, forkErrand } from './workers/fork-errand.ts';
import { type Errand, type WebhookErrandsSettings, webhookErrands } from './workers/webhook-errands.ts';

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
