import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Take minutes, so that a run that starts them last waits for them alone. */
const longest = ['test/process/crash.test.ts', 'test/process/journey/journey.test.ts'];

/** Vitest's own order, by size where it knows no durations, with the longest files first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => longest.some((file) => moduleId.endsWith(file));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
