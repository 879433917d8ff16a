import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../../cli/program.ts';
import { usage } from '../../../src/usage.ts';
import { usersUsage } from '../../../src/users-command.ts';
import { webhooksUsage } from '../../../src/webhooks-command.ts';
import { run } from '../../support/command.ts';
import { importsOf } from '../../tidy/imports.ts';
import { source } from '../../tidy/source.ts';
import { helpOf, leaves } from './tree.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

describe('the help', () => {
  test.each(leaves().map(({ path }) => path))('of "%s" shows an example of that very command', (path) => {
    const leaf = leaves().find((one) => one.path === path);
    const help = leaf === undefined ? '' : helpOf(leaf.command);
    expect(help).toMatch(new RegExp(`Examples:[\\s\\S]*\\$ sandbank ${path}(?![\\w-])`));
    expect(help).toContain('--json');
  });

  test('of the program is the tree, with the exit codes, on stdout and with 0', async () => {
    const { code, stdout, stderr } = await run(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    for (const { path } of leaves()) expect(stdout).toContain(path.split(' ')[0]);
    expect(stdout).toMatch(/Exit codes: 0 fine, 1 .*, 2 .*, 3 .*, 4 /);
    expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(await run(['payments', 'create', '--help'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Examples:'),
    });
  });

  /** The flags of a text such as `--port PORT`. */
  const flagsIn = (text: string) => [
    ...new Set([...text.matchAll(/(?<=^\s+|, )--([a-z-]+)/gm)].map(([, name]) => name)),
  ];
  const global = ['json', 'url', 'help', 'version'];

  test.each<[string, readonly string[], string]>([
    ['start', ['start', 'verify'], usage],
    ['users', ['users invite', 'users reset-link'], usersUsage],
    ['webhooks verify', ['webhooks verify'], webhooksUsage],
  ])('%s declares the flags that the server program reads', (_name, paths, text) => {
    const declared = leaves()
      .filter(({ path }) => paths.includes(path))
      .flatMap(({ command }) => command.options.map(({ long }) => long?.slice(2)));
    const read = flagsIn(text).filter((flag) => !global.includes(flag ?? ''));
    expect([...new Set(declared)].toSorted()).toEqual(read.toSorted());
  });
});

test('what every command loads reaches neither the server, nor the client, nor the MCP library, and a server no command', () => {
  const met = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string): void => {
    if (met.has(file)) return;
    met.add(file);
    for (const { specifier, kind, typeOnly } of importsOf(
      source(file, readFileSync(join(root, file), 'utf8')),
    )) {
      if (kind !== 'static' || typeOnly || specifier === undefined) continue;
      if (specifier.startsWith('.')) visit(normalize(join(dirname(file), specifier)));
      else packages.add(specifier);
    }
  };
  visit('cli/main.ts');
  expect([...met].toSorted()).toEqual(['cli/hand-over.ts', 'cli/main.ts', 'cli/problem.ts']);
  visit('cli/run-command.ts');
  expect([...met].filter((file) => /^src\/|^sdk\/(client|transport|generated\/inputs)/.test(file))).toEqual(
    [],
  );
  expect([...packages].filter((name) => !name.startsWith('node:'))).toEqual(['commander']);
  expect(createProgram().commands.length).toBeGreaterThan(20);
});
