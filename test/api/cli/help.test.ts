import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../../cli/program.ts';
import { serverVariables } from '../../../cli/variables.ts';
import { readConfig } from '../../../src/config.ts';
import { run } from '../../support/command.ts';
import { importsOf } from '../../tidy/imports.ts';
import { source } from '../../tidy/source.ts';
import { helpOf, leaves } from './tree.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

describe('help', () => {
  test.each(leaves().map(({ path }) => path))('of "%s" shows an example of that command', (path) => {
    const leaf = leaves().find((one) => one.path === path);
    const help = leaf === undefined ? '' : helpOf(leaf.command);
    expect(help).toMatch(new RegExp(`Examples:[\\s\\S]*\\$ sandbank ${path}(?![\\w-])`));
    expect(help).toContain('--json');
  });

  test('of the program lists every command in a group, with the exit codes, on stdout and with exit code 0', async () => {
    const { code, stdout, stderr } = await run(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    const headings = ['Options', 'Start', 'Payments and customers', 'Webhooks and events', 'Time and faults'];
    for (const heading of [...headings, 'Inspect', 'Operate', 'Tools'])
      expect(stdout).toMatch(new RegExp(`^${heading}:\\n  \\S`, 'm'));
    for (const command of createProgram().commands) {
      // Fits on one line of 80 columns.
      const line = stdout.split('\n').find((one) => one.startsWith(`  ${command.name()} `));
      expect(line?.endsWith(` ${command.summary()}`), command.name()).toBe(true);
      expect(command.helpGroup(), command.name()).not.toBe('');
    }
    expect(stdout).toMatch(/Exit codes: 0 success, 1 .*, 2 .*, 3 .*, 4 /);
    expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(await run(['payments', 'create', '--help'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Examples:'),
    });
  });

  test('of "start" lists every setting that the server reads', () => {
    const read = new Set<string>();
    const env = new Proxy<Record<string, string>>(
      {},
      {
        get: (_target, name) => {
          read.add(String(name));
          return undefined;
        },
      },
    );
    readConfig({}, env);
    // Other OpenTelemetry variables; the library documents them.
    const ownVariables = [...read].filter((name) => !name.startsWith('OTEL_') || name in serverVariables);
    const start = leaves().find(({ path }) => path === 'start');
    const help = start === undefined ? '' : helpOf(start.command);
    for (const name of ownVariables) expect(help, name).toMatch(new RegExp(`\\b${name}\\b`));
    expect(Object.keys(serverVariables).filter((name) => !read.has(name))).toEqual([]);
  });
});

test('commands load neither the server, nor the client, nor the MCP library; "start" loads no other command', () => {
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
  expect([...met].filter((file) => file.startsWith('cli/commands/'))).toEqual(['cli/commands/start.ts']);
  visit('cli/program.ts');
  const heavy = /^src\/(?!kernel\/nearest)|^sdk\/(client|transport|generated\/inputs)/;
  expect([...met].filter((file) => heavy.test(file))).toEqual([]);
  expect([...packages].filter((name) => !name.startsWith('node:'))).toEqual(['commander']);
});
