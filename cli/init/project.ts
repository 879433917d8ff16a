import { wrongUsage } from '../problem.ts';

const packageManagers = ['npm', 'pnpm', 'yarn', 'bun'] as const;
export type PackageManager = (typeof packageManagers)[number];
type Runner = 'vitest' | 'jest' | 'mocha' | 'node' | 'pytest';

/** What `sandbank init` has to know about a project. Paths are relative to its folder, with forward slashes. */
export interface Project {
  readonly runner: Runner;
  readonly packageManager: PackageManager;
  readonly isTypescript: boolean;
  /** Whether `.js` files are ES modules. */
  readonly isModule: boolean;
  readonly testFolder: string;
  /** The configuration file of the test runner, or `package.json` when that contains it. */
  readonly runnerConfig: string | undefined;
  /** False for a project in another language, which needs only the command. */
  readonly usesPackage: boolean;
  readonly isInstalled: boolean;
  /** Where the package is or will be; undefined when it is not in a `node_modules` folder. */
  readonly packageFolder: string | undefined;
}

/** Which of the names exist in the folder and in those above it, nearest first. */
export interface Surroundings {
  has(name: string): boolean;
  /** The path of the nearest one, relative to the folder. */
  nearest(names: readonly string[]): string | undefined;
}

export interface Manifest {
  readonly type?: unknown;
  readonly packageManager?: unknown;
  readonly scripts?: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, unknown>>;
  readonly devDependencies?: Readonly<Record<string, unknown>>;
  readonly jest?: unknown;
}

const lockfiles: readonly (readonly [name: string, manager: PackageManager])[] = [
  ['package-lock.json', 'npm'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
];
const packageDefault = 'node_modules/sandbank';
const pythonFiles = ['pyproject.toml', 'requirements.txt', 'setup.py', 'setup.cfg', 'Pipfile', 'uv.lock'];
const javascriptRunners = ['vitest', 'jest', 'mocha'] as const;
const scriptExtensions = ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs'];
const configNames = {
  // Vitest falls back to the Vite configuration.
  vitest: ['vitest', 'vite'].flatMap((name) => scriptExtensions.map((end) => `${name}.config.${end}`)),
  jest: [...scriptExtensions, 'json'].map((end) => `jest.config.${end}`),
};

export function detectProject(manifest: Manifest | undefined, around: Surroundings): Project {
  const runner = runnerOf(manifest, around);
  const usesPackage = manifest !== undefined || runner !== 'pytest';
  const installed = around.nearest([`${packageDefault}/package.json`]);
  const folder = installed?.replace(/\/package\.json$/, '') ?? packageDefault;
  return {
    runner,
    packageManager: packageManagerOf(manifest, around),
    isTypescript: around.has('tsconfig.json') || dependsOn(manifest, 'typescript'),
    isModule: manifest?.type === 'module',
    testFolder: testFolderOf(runner, around),
    runnerConfig: runnerConfigOf(runner, manifest, around),
    usesPackage,
    isInstalled: installed !== undefined,
    // Yarn Plug'n'Play keeps packages in archives, which editors do not read.
    packageFolder: usesPackage && !around.has('.pnp.cjs') ? folder : undefined,
  };
}

/** Only the fields that are read, and only with the types that they should have: other tools write this file, too. */
export function parseManifest(text: string): Manifest {
  try {
    const manifest: unknown = JSON.parse(text);
    if (isRecord(manifest)) return manifest;
  } catch {
    // Reported below.
  }
  throw wrongUsage('package.json is not a JSON object. Fix it, then run the command again.');
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The test script decides; a project may have several runners installed. */
function runnerOf(manifest: Manifest | undefined, { has }: Surroundings): Runner {
  const script = isRecord(manifest?.scripts) ? String(manifest.scripts.test ?? '') : '';
  const runner =
    javascriptRunners.find((name) => new RegExp(`\\b${name}\\b`).test(script)) ??
    javascriptRunners.find((name) => dependsOn(manifest, name));
  return runner ?? (pythonFiles.some((name) => has(name)) ? 'pytest' : 'node');
}

function packageManagerOf(manifest: Manifest | undefined, { nearest }: Surroundings): PackageManager {
  const [named] = String(manifest?.packageManager ?? '').split('@');
  const lockfile = nearest(lockfiles.map(([name]) => name));
  return (
    packageManagers.find((name) => name === named) ??
    lockfiles.find(([name]) => lockfile?.endsWith(name))?.[1] ??
    'npm'
  );
}

function testFolderOf(runner: Runner, { has }: Surroundings): string {
  // By default Mocha runs all files of `test`, and this one is for another runner.
  if (runner === 'mocha') return '.';
  const names = ['test', 'tests', ...(runner === 'pytest' ? [] : ['__tests__'])];
  return names.find((name) => has(name)) ?? (runner === 'pytest' ? 'tests' : 'test');
}

function runnerConfigOf(
  runner: Runner,
  manifest: Manifest | undefined,
  { has }: Surroundings,
): string | undefined {
  if (runner !== 'vitest' && runner !== 'jest') return undefined;
  const file = configNames[runner].find((name) => has(name));
  return file ?? (runner === 'jest' && manifest?.jest !== undefined ? 'package.json' : undefined);
}

function dependsOn(manifest: Manifest | undefined, name: string): boolean {
  return [manifest?.dependencies, manifest?.devDependencies].some(
    (dependencies) => isRecord(dependencies) && Object.hasOwn(dependencies, name),
  );
}
