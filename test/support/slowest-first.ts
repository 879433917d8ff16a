import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Seconds that files take when two run at a time. A machine that has never run them would begin with the largest files, and
 * end with one worker at the slowest while the other has nothing left. Roughly right is good enough: only the order counts.
 */
const seconds: Readonly<Record<string, number>> = {
  'test/e2e/pages.test.ts': 191,
  'test/simulation/journey.test.ts': 90,
  'test/nodes/rolling.test.ts': 40,
  'test/e2e/docs.test.ts': 60,
  'test/system/export-on-exit.test.ts': 59,
  'test/cli/doctor.test.ts': 51,
  'test/e2e/examine.test.ts': 51,
  'test/system/deliveries.test.ts': 41,
  'test/system/clock.test.ts': 93,
  'test/system/start.test.ts': 89,
  'test/api/fuzz.test.ts': 87,
  'test/system/crash.test.ts': 85,
  'test/system/crash-moves.test.ts': 78,
  'test/system/delivery-postgres.test.ts': 73,
  'test/simulation/model.test.ts': 67,
  'test/api/matrix-ways.test.ts': 63,
  'test/api/event-stream.test.ts': 58,
  'test/system/delivery-advance.test.ts': 50,
  'test/api/matrix-parts.test.ts': 48,
  'test/system/stop.test.ts': 48,
  'test/system/outage.test.ts': 45,
  'test/system/delivery-workers.test.ts': 43,
  'test/system/verify-command.test.ts': 42,
  'test/console/tries.test.ts': 41,
  'test/e2e/keyboard.test.ts': 40,
  'test/api/slow-receivers.test.ts': 36,
  'test/api/matrix-transfers.test.ts': 35,
  'test/api/deliveries.test.ts': 35,
  'test/e2e/path.test.ts': 34,
  'test/console/roles.test.ts': 34,
  'test/console/seed-users.test.ts': 32,
  'test/console/session.test.ts': 32,
  'test/users-command.test.ts': 32,
  'test/console/two-factor.test.ts': 31,
  'test/system/delivery-nodes.test.ts': 30,
};

/** The slowest first; all others come after them, in the order that they have anyway. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    return usual.sort((a, b) => this.#secondsOf(b) - this.#secondsOf(a));
  }

  #secondsOf({ moduleId }: TestSpecification): number {
    return seconds[relative(this.ctx.config.root, moduleId).replaceAll('\\', '/')] ?? 0;
  }
}
