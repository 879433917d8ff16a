import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Seconds that files take when two run at a time. A machine that has never run them would begin with the largest files, and
 * end with one worker at the slowest while the other has nothing left. Roughly right is good enough: only the order counts.
 */
const seconds: Readonly<Record<string, number>> = {
  'test/e2e/pages.test.ts': 180,
  'test/e2e/docs.test.ts': 95,
  'test/process/start.test.ts': 30,
  'test/process/clock.test.ts': 50,
  'test/simulation/journey.test.ts': 70,
  'test/process/export-on-exit.test.ts': 20,
  'test/process/stop.test.ts': 45,
  'test/e2e/examine.test.ts': 57,
  'test/system/deliveries.test.ts': 53,
  'test/system/delivery-advance.test.ts': 51,
  'test/e2e/keyboard.test.ts': 51,
  'test/system/delivery-postgres.test.ts': 48,
  'test/api/fuzz.test.ts': 48,
  'test/console/roles.test.ts': 45,
  'test/system/delivery-workers.test.ts': 42,
  'test/e2e/path.test.ts': 41,
  'test/e2e/organization.test.ts': 41,
  'test/workers/sealer.test.ts': 40,
  'test/system/crash.test.ts': 39,
  'test/api/event-stream.test.ts': 39,
  'test/system/outage.test.ts': 38,
  'test/api/matrix-transfers.test.ts': 37,
  'test/system/crash-moves.test.ts': 36,
  'test/api/deliveries.test.ts': 36,
  'test/process/examples.test.ts': 35,
  'test/e2e/faults.test.ts': 32,
  'test/process/rolling.test.ts': 31,
  'test/e2e/load.test.ts': 31,
  'test/api/timers.test.ts': 31,
  'test/operator/snapshots.test.ts': 30,
  'test/api/webhooks.test.ts': 28,
  'test/faults/wire.test.ts': 26,
  'test/api/deterministic.test.ts': 20,
  'test/simulation/model.test.ts': 25,
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
