import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createMetrics, type Watched } from '../../src/telemetry/metrics.ts';

const file = (name: string) => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');

interface Place {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: Place;
  readonly datasource?: { readonly uid: string };
  readonly fieldConfig?: { readonly defaults: { readonly unit: string } };
  readonly targets?: readonly { readonly expr: string }[];
}

interface Dashboard {
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly { readonly name: string }[] };
  readonly panels: readonly Panel[];
}

const metrics = createMetrics({ version: '1', role: 'all' });
// Nothing is asked: the names are all that counts here.
metrics.watch({} as Watched);
const kinds = new Map(
  metrics.registry.getMetricsAsArray().map((metric) => {
    const { name, type } = metric as unknown as { readonly name: string; readonly type: string };
    return [name, type];
  }),
);
/** The names under which Prometheus has them. */
const samples = new Set(
  [...kinds].flatMap(([name, type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  ),
);

const words = new Set(
  'sum min max count by topk rate increase histogram_quantile time and or on ignoring without up'.split(' '),
);
const token =
  /\s+|"[^"]*"|\d+(?:\.\d+)?|\[(?:\$__rate_interval|\d+[smhd])\]|[a-zA-Z_:][a-zA-Z0-9_:]*|=~|!~|!=|==|<=|>=|[-+*/<>=(){},]/y;

/** What is wrong with a query, by its letters: signs that PromQL does not have, brackets, and names that nobody knows. */
function problemOf(expr: string): string | undefined {
  const open: string[] = [];
  let isLabels = false;
  let isGrouping = false;
  token.lastIndex = 0;
  for (let at = 0, last = ''; at < expr.length; at = token.lastIndex) {
    const [text] = token.exec(expr) ?? [];
    if (text === undefined) return `not a token at: ${expr.slice(at)}`;
    if (/^\s/.test(text)) continue;
    if (text === '(' || text === '{') open.push(text);
    if (text === '{') isLabels = true;
    if (text === '(' && last === 'by') isGrouping = true;
    if (text === ')' || text === '}') {
      if (open.pop() !== (text === ')' ? '(' : '{')) return `brackets at: ${expr.slice(at)}`;
      if (text === '}') isLabels = false;
      isGrouping = false;
    }
    const isName = /^[a-zA-Z_]/.test(text);
    if (isName && !isLabels && !isGrouping && !words.has(text) && !samples.has(text))
      return `unknown: ${text}`;
    last = text;
  }
  return open.length > 0 ? 'an open bracket' : undefined;
}

describe('the dashboard', () => {
  const dashboard = JSON.parse(file('grafana-dashboard.json')) as Dashboard;
  const drawn = dashboard.panels.filter(({ type }) => type !== 'row');

  it('is one that Grafana takes: variables, and panels with a unit, words and a place of their own', () => {
    expect(dashboard.schemaVersion).toBeGreaterThanOrEqual(39);
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'node']);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    for (const { title, description, fieldConfig, datasource, gridPos } of drawn) {
      expect(description, title).toMatch(/^[A-Z0-9a-z].*\.$/);
      expect(fieldConfig?.defaults.unit, title).toBeTruthy();
      expect(datasource?.uid, title).toBe('${' + 'datasource}');
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    }
    const places = dashboard.panels.map(({ gridPos }) => gridPos);
    const overlaps = (a: Place, b: Place) =>
      a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
    for (const [i, a] of places.entries())
      for (const b of places.slice(i + 1)) expect(overlaps(a, b), JSON.stringify([a, b])).toBe(false);
  });

  it('asks for nothing that is not measured, and shows all that is', () => {
    const queries = drawn.flatMap(({ targets }) => (targets ?? []).map(({ expr }) => expr));
    expect(queries.length).toBeGreaterThan(30);
    for (const expr of queries) expect(problemOf(expr), expr).toBeUndefined();
    const text = queries.join('\n');
    const unseen = [...kinds.keys()].filter((name) => name.startsWith('sandbank_') && !text.includes(name));
    expect(unseen).toEqual([]);
  });

  it('would not pass with a query that is wrong', () => {
    expect(problemOf('sum(rate(sandbank_http_requests_total[5m]))')).toBe(
      'unknown: sandbank_http_requests_total',
    );
    expect(problemOf('sum(sandbank_delivery_due')).toBe('an open bracket');
    expect(problemOf('sandbank_delivery_due % % 1')).toMatch(/not a token/);
  });
});

describe('the alerts', () => {
  const rules = file('alerts.yaml')
    .split(/\n {6}- alert: /)
    .slice(1);

  it('go by what is measured, and say what it means and what to do', () => {
    expect(rules.length).toBeGreaterThan(8);
    for (const rule of rules) {
      const [name = ''] = rule.split('\n');
      const expr = /^ {8}expr: (.+)$/m.exec(rule)?.[1] ?? '';
      expect(problemOf(expr), name).toBeUndefined();
      expect(rule, name).toMatch(/^ {10}summary: "[^"]+"$/m);
      expect(rule, name).toMatch(/^ {10}description: "[^"]+\."$/m);
      expect(rule, name).toMatch(/severity: (?:page|ticket|info) /);
    }
    expect(new Set(rules.map((rule) => rule.split('\n')[0])).size).toBe(rules.length);
  });
});

describe('the unit for systemd', () => {
  const unit = file('sandbank.service');
  const has = spawnSync('systemd-analyze', ['--version']).status === 0;

  it('lets V8 make code, and waits longer for the end than the server may take', () => {
    expect(unit).toMatch(/^MemoryDenyWriteExecute=no$/m);
    expect(unit).toMatch(/^Restart=on-failure$/m);
    // 10 s for requests, 2 for deliveries, 3 for the request log, 3 for spans, and the last batch.
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThanOrEqual(25);
  });

  it.skipIf(!has)(
    'is understood by systemd, and shut tight (skipped where there is no systemd-analyze)',
    () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-unit-'));
      const copy = path.join(folder, 'sandbank.service');
      writeFileSync(copy, unit.replace('/usr/bin/node', process.execPath));
      const verified = spawnSync('systemd-analyze', ['verify', '--man=no', copy], { encoding: 'utf8' });
      const said = verified.stderr.split('\n').filter((line) => line.includes('sandbank'));
      expect(said).toEqual([]);
      const judged = execFileSync('systemd-analyze', ['security', '--offline=true', copy], {
        encoding: 'utf8',
      });
      expect(Number(/Overall exposure level for sandbank.service: ([\d.]+)/.exec(judged)?.[1])).toBeLessThan(
        2,
      );
      rmSync(folder, { recursive: true });
    },
  );
});

describe('the packages for traces', () => {
  it('are read by one module, and that only where traces are sent', () => {
    const root = fileURLToPath(new URL('../../src/', import.meta.url));
    const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const having = (words: RegExp) =>
      sources.filter((name) => words.test(readFileSync(path.join(root, name), 'utf8')));
    expect(having(/from '@opentelemetry\//)).toEqual(['telemetry/otlp.ts']);
    expect(having(/^import (?!type\b).*\/otlp\.ts'/m)).toEqual([]);
    expect(having(/import\('\.\/otlp\.ts'\)/)).toEqual(['telemetry/telemetry.ts']);
  });
});
