import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../cli/program.ts';
import { variablesText } from '../../cli/variables.ts';
import { checkedSeed } from '../../src/admin/seed.ts';
import { readMarkdown, root } from './built.ts';

const pageOf = (name: string) => readMarkdown().get(name) ?? '';

describe('docs/configuration.md', () => {
  const rows = pageOf('configuration.md')
    .split('\n')
    .filter((line) => /^\| (`--|\|)/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));
  const source = readFileSync(new URL('src/config.ts', root), 'utf8');
  const sorted = (names: Iterable<string | undefined>) => [...new Set(names)].filter(Boolean).sort();

  const start = createProgram().commands.find((command) => command.name() === 'start');
  const help = `${start?.helpInformation()}${variablesText()}`;

  test('lists every flag of the start command, and no other', () => {
    const flags = start?.options.map(({ long }) => long ?? '') ?? [];
    expect(flags.length).toBeGreaterThan(5);
    expect(sorted(rows.map(([, flag]) => flag))).toEqual(sorted(flags));
  });

  test('lists every variable that the configuration reads, and no other', () => {
    const read = [...source.matchAll(/\benv\.([A-Z_]+)|, '([A-Z_]+)'\)/g)].map(
      ([, own, named]) => own ?? named,
    );
    const standard = read.filter(
      (name) => name?.startsWith('OTEL_') && name !== 'OTEL_EXPORTER_OTLP_ENDPOINT',
    );
    expect(sorted(rows.map(([, , variable]) => variable))).toEqual(
      sorted(read.filter((name) => !standard.includes(name))),
    );
  });

  test('names the same flags and variables as --help', () => {
    for (const [, flag = '', variable = ''] of rows) {
      if (flag !== '') expect(help).toContain(flag);
      if (variable !== '') expect(help).toContain(variable);
    }
  });
});

describe('docs/seed.md', () => {
  const page = pageOf('seed.md');

  test('has an example that the server accepts', () => {
    const [, example = ''] = /```json\n([\s\S]*?)\n```/.exec(page) ?? [];
    expect(checkedSeed(JSON.parse(example), 'The example').organizations).toHaveLength(1);
  });

  test('names every field of the format', () => {
    const source = readFileSync(fileURLToPath(new URL('src/admin/seed.ts', root)), 'utf8');
    const format = source.slice(source.indexOf('const User'), source.indexOf('export type Seed'));
    const fields = [...format.matchAll(/^\s+(\w+): /gm)]
      .map(([, name = '']) => name)
      .filter((name) => !['minItems', 'maxItems', 'uniqueItems'].includes(name));
    for (const field of [...fields, 'fee', 'provider', 'fx', 'webhookDefaults'])
      expect(page, field).toContain(`\`${field}\``);
  });
});
