import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { checkedSeed } from '../../src/seed.ts';
import { usage } from '../../src/usage.ts';
import { readMarkdown, root } from './built.ts';

const pageOf = (name: string) => readMarkdown().get(name) ?? '';

describe('docs/configuration.md', () => {
  const rows = pageOf('configuration.md')
    .split('\n')
    .filter((line) => /^\| (`--|\|)/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));
  const source = readFileSync(new URL('src/config.ts', root), 'utf8');
  const sorted = (names: Iterable<string | undefined>) => [...new Set(names)].filter(Boolean).sort();

  test('lists every flag that the start reads, and no other', () => {
    const options = /options: \{([\s\S]*?)\n {6}\}/.exec(source)?.[1] ?? '';
    const flags = [...options.matchAll(/^\s+'?([\w-]+)'?: /gm)].map(([, name]) => `--${name}`);
    // The first two show something and exit; the others are flags of `verify`.
    const notOfStart = ['--help', '--version', '--json', '--heads', '--print-heads'];
    expect(sorted(rows.map(([, flag]) => flag))).toEqual(
      sorted(flags.filter((flag) => !notOfStart.includes(flag))),
    );
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
      if (flag !== '') expect(usage).toContain(flag);
      if (variable !== '') expect(usage).toContain(variable);
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
    const source = readFileSync(fileURLToPath(new URL('src/seed.ts', root)), 'utf8');
    const format = source.slice(source.indexOf('const User'), source.indexOf('export type Seed'));
    const fields = [...format.matchAll(/^\s+(\w+): /gm)]
      .map(([, name = '']) => name)
      .filter((name) => !['minItems', 'maxItems', 'uniqueItems'].includes(name));
    for (const field of [...fields, 'fee', 'provider', 'fx', 'webhookDefaults'])
      expect(page, field).toContain(`\`${field}\``);
  });
});
