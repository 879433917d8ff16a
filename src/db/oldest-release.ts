import { packageVersion } from '../local/paths.ts';

/**
 * A migration that removes something which old code needs names the oldest release that works without it, in a line above its
 * statements: `-- oldest release: 0.3.0`. The database stores it, so that an older node, which does not have the migration, does not start.
 */
export function oldestReleaseOf(sql: string): string | null {
  const comments = /^(?:--.*\n)*/.exec(sql)?.[0] ?? '';
  return /^-- oldest release: (\d+\.\d+\.\d+)$/m.exec(comments)?.[1] ?? null;
}

/** A migration that the database has. */
export interface AppliedMigration {
  readonly version: number;
  readonly name: string;
  readonly oldestRelease: string | null;
}

/** Throws if this release is older than one that an applied migration requires. */
export function requireRelease(
  applied: Iterable<AppliedMigration>,
  release: string = packageVersion(),
): void {
  const demanding = [...applied]
    .filter(({ oldestRelease }) => oldestRelease !== null && isOlder(release, oldestRelease))
    .sort((a, b) => (isOlder(a.oldestRelease ?? '', b.oldestRelease ?? '') ? 1 : -1));
  if (demanding[0]) throw new DatabaseTooNew(demanding[0], release);
}

/** Compares release numbers. A part that is not a number, as in `0.3.0-beta`, counts up to its first other character. */
export function isOlder(release: string, than: string): boolean {
  const [left, right] = [partsOf(release), partsOf(than)];
  const at = left.findIndex((part, i) => part !== right[i]);
  return at !== -1 && (left[at] ?? 0) < (right[at] ?? 0);
}

function partsOf(release: string): readonly number[] {
  const parts = release.split('.').map((part) => Number.parseInt(part, 10) || 0);
  return [parts[0] ?? 0, parts[1] ?? 0, parts[2] ?? 0];
}

export class DatabaseTooNew extends Error {
  override readonly name = 'DatabaseTooNew';

  constructor({ version, name, oldestRelease }: AppliedMigration, release: string) {
    super(
      `This database needs Sandbank ${oldestRelease} or newer since its migration ${version} (${name}), and this is Sandbank ${release}: ` +
        `install ${oldestRelease} or newer, or restore a backup from before that migration.`,
    );
  }
}
