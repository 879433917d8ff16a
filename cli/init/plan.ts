import type { ProjectFolder } from './folder.ts';
import { dataFolder, exists, type Merged, mergeGitignore, mergeMcp } from './merge.ts';
import { detectProject, type PackageManager, type Project, parseManifest } from './project.ts';
import {
  type FileTemplate,
  type RunnerSetup,
  seedTemplate,
  setupTemplate,
  testTemplate,
} from './templates.ts';

/** What happens to one file. A file that exists is only ever extended, and never overwritten. */
export interface PlannedFile {
  readonly path: string;
  readonly outcome: 'created' | 'updated' | 'unchanged';
  /** Undefined when the file stays as it is. */
  readonly content: string | undefined;
  readonly note: string;
  /** What the developer has to add, because it is not added here. */
  readonly todo?: string | undefined;
}

export interface NextStep {
  readonly command: string;
  readonly purpose: string;
}

export interface Plan {
  readonly project: Project;
  readonly files: readonly PlannedFile[];
  readonly nextSteps: readonly NextStep[];
}

const schemaFile = 'schemas/seed.schema.json';
const commands: Readonly<Record<PackageManager, { readonly install: string; readonly run: string }>> = {
  npm: { install: 'npm install --save-dev sandbank', run: 'npx' },
  pnpm: { install: 'pnpm add --save-dev sandbank', run: 'pnpm exec' },
  yarn: { install: 'yarn add --dev sandbank', run: 'yarn' },
  bun: { install: 'bun add --dev sandbank', run: 'bunx' },
};

/** `url` is the address of the server, which also serves the schema. */
export function planInit(folder: ProjectFolder, url: string): Plan {
  const manifest = folder.read('package.json');
  const project = detectProject(manifest === undefined ? undefined : parseManifest(manifest), folder);
  const test = testTemplate(project);
  const setup = setupTemplate(project);
  return {
    project,
    files: [
      created(
        folder,
        seedTemplate(schemaReference(project, url)),
        'declares an API key and a console account',
      ),
      merged(folder, '.gitignore', mergeGitignore, `ignores ${dataFolder}`),
      merged(folder, '.mcp.json', mergeMcp, 'adds the MCP server "sandbank"'),
      ...(setup ? [configured(folder, setup, project.runnerConfig)] : []),
      created(folder, test),
    ],
    nextSteps: nextSteps(project, test.path),
  };
}

/** A path works offline in every editor. Without `node_modules` only the server has the schema. */
function schemaReference({ packageFolder }: Project, url: string): string {
  if (packageFolder === undefined) return `${url.replace(/\/+$/, '')}/seed.schema.json`;
  return `${packageFolder.startsWith('..') ? '' : './'}${packageFolder}/${schemaFile}`;
}

const irregular = 'is not a regular file, left unchanged';
const unchanged = (path: string, note: string, todo?: string): PlannedFile => ({
  ...{ path, outcome: 'unchanged', content: undefined, note, todo },
});

function created(folder: ProjectFolder, { path, content }: FileTemplate, note = ''): PlannedFile {
  const state = folder.stateOf(path);
  if (state !== 'absent') return unchanged(path, state === 'file' ? exists : irregular);
  return { path, outcome: 'created', content, note };
}

function merged(
  folder: ProjectFolder,
  path: string,
  merge: (text: string | undefined) => Merged,
  note: string,
): PlannedFile {
  const state = folder.stateOf(path);
  if (state === 'other') return unchanged(path, irregular);
  const result = merge(state === 'absent' ? undefined : folder.read(path));
  if ('reason' in result) return unchanged(path, result.reason, result.todo);
  return { path, outcome: state === 'absent' ? 'created' : 'updated', content: result.content, note };
}

/** A configuration that exists is code of the project: it is not edited. */
function configured(folder: ProjectFolder, setup: RunnerSetup, existing: string | undefined): PlannedFile {
  if (existing === undefined) return created(folder, setup);
  const isSetUp = folder.read(existing)?.includes(setup.marker) === true;
  return unchanged(existing, exists, isSetUp ? undefined : setup.lines);
}

function nextSteps(project: Project, testFile: string): readonly NextStep[] {
  const { install, run } = commands[project.packageManager];
  const tests = {
    vitest: `${run} vitest run ${testFile}`,
    jest: `${run} jest ${testFile}`,
    pytest: `pytest ${testFile}`,
    mocha: `node --test ${testFile}`,
    node: `node --test ${testFile}`,
  };
  return [
    ...(project.usesPackage && !project.isInstalled
      ? [{ command: install, purpose: 'install the package' }]
      : []),
    { command: `${run} sandbank start`, purpose: 'start the server' },
    {
      command: `${run} sandbank listen --forward-to http://127.0.0.1:3000/webhooks`,
      purpose: 'forward webhooks to your program',
    },
    { command: tests[project.runner], purpose: 'run the first test' },
  ];
}
