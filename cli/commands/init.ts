import { relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { declare } from '../declare.ts';
import type { NextStep, PlannedFile } from '../init/plan.ts';
import { fields, table } from '../layout.ts';
import type { Output } from '../output.ts';

export function addInit(program: Command): void {
  declare<{ readonly dryRun?: true }>(program, 'init [folder]', {
    summary: 'Set up a project: seed file, MCP server and a first test',
    details:
      'It finds the test runner (Vitest, Jest, pytest, otherwise node:test) and the package manager. Existing files are not overwritten: .gitignore and .mcp.json are extended, all others stay as they are.',
    options: [['--dry-run', 'show what would change and write nothing']],
    examples: [['init'], ['init my-shop --dry-run', 'what it would write to the folder my-shop']],
    run: async (session, { dryRun }, folderName = '.') => {
      const [{ ProjectFolder }, { planInit }] = await Promise.all([
        import('../init/folder.ts'),
        import('../init/plan.ts'),
      ]);
      const folder = new ProjectFolder(resolve(session.directory, folderName));
      const { project, files, nextSteps } = planInit(folder, session.settings.url);
      const steps = [...entering(session.directory, folder.path), ...nextSteps];
      const isDryRun = dryRun === true;
      for (const { path, content } of isDryRun ? [] : files)
        if (content !== undefined) await folder.write(path, content);
      const result = {
        object: 'initialization',
        sandbox: true,
        status: isDryRun ? 'dry_run' : 'ok',
        folder: folder.path,
        runner: project.runner,
        packageManager: project.packageManager,
        files: files.map(({ path, outcome, note, todo = null }) => ({ path, outcome, note, todo })),
        nextSteps: steps,
      };
      session.out.show(result, () => text(session.out, files, steps, isDryRun));
      return undefined;
    },
  });
}

function entering(from: string, to: string): readonly NextStep[] {
  const path = relative(from, to);
  if (path === '') return [];
  return [{ command: `cd ${/^[\w./-]+$/.test(path) ? path : `"${path}"`}`, purpose: 'enter the folder' }];
}

const planned = { created: 'would create', updated: 'would update', unchanged: 'unchanged' } as const;

function text(
  { paint }: Output,
  files: readonly PlannedFile[],
  nextSteps: readonly NextStep[],
  isDryRun: boolean,
): string {
  const rows = files.map(({ path, outcome, note }) => [isDryRun ? planned[outcome] : outcome, path, note]);
  const todos = files.flatMap(({ path, todo }) =>
    todo === undefined ? [] : ['', `Add to ${path}:`, `  ${todo}`],
  );
  const isComplete = todos.length === 0 && files.every(({ outcome }) => outcome === 'unchanged');
  return [
    table(['outcome', 'file', 'note'], rows),
    ...(isComplete ? ['', 'Nothing to do: the project is set up.'] : []),
    ...todos,
    '',
    'Next steps:',
    fields(nextSteps.map(({ command, purpose }) => [`  ${command}`, paint.dim(`# ${purpose}`)])),
  ].join('\n');
}
