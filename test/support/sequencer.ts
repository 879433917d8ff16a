import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** These files take minutes. A run that started them last would wait only for them. */
const longest = ['test/process/crash.test.ts', 'test/process/chaos/chaos.test.ts'];

/** Vitest's default order, with the longest files first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => longest.some((file) => moduleId.endsWith(file));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
