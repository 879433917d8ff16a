import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createMetrics, type Watched } from '../../src/telemetry/metrics.ts';

const file = (name: string) => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');

interface GridPosition {
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
  readonly gridPos: GridPosition;
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
// An empty object suffices, because only the metric names are used.
metrics.watch({} as Watched);
const kinds = new Map(
  metrics.registry.getMetricsAsArray().map((metric) => {
    const { name, type } = metric as unknown as { readonly name: string; readonly type: string };
    return [name, type];
  }),
);
/** Sample names in Prometheus. */
const samples = new Set(
  [...kinds].flatMap(([name, type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  ),
);

const keywords = new Set(
  'sum min max count by topk rate increase histogram_quantile time and or on ignoring without up'.split(' '),
);
const token =
  /\s+|"[^"]*"|\d+(?:\.\d+)?|\[(?:\$__rate_interval|\d+[smhd])\]|[a-zA-Z_:][a-zA-Z0-9_:]*|=~|!~|!=|==|<=|>=|[-+*/<>=(){},]/y;

/** Finds lexical errors in a query: invalid PromQL tokens, unbalanced brackets and unknown metric names. */
function problemOf(expr: string): string | undefined {
  const open: string[] = [];
  let isLabels = false;
  let isGrouping = false;
  token.lastIndex = 0;
  for (let at = 0, last = ''; at < expr.length; at = token.lastIndex) {
    const [text] = token.exec(expr) ?? [];
    if (text === undefined) return `invalid token at: ${expr.slice(at)}`;
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
    if (isName && !isLabels && !isGrouping && !keywords.has(text) && !samples.has(text))
      return `unknown: ${text}`;
    last = text;
  }
  return open.length > 0 ? 'unclosed bracket' : undefined;
}

describe('the dashboard', () => {
  const dashboard = JSON.parse(file('grafana-dashboard.json')) as Dashboard;
  const drawn = dashboard.panels.filter(({ type }) => type !== 'row');

  it('is valid in Grafana: variables, and panels with a unit, a description and no overlap', () => {
    expect(dashboard.schemaVersion).toBeGreaterThanOrEqual(39);
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'node']);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    for (const { title, description, fieldConfig, datasource, gridPos } of drawn) {
      expect(description, title).toMatch(/^[A-Z0-9a-z].*\.$/);
      expect(fieldConfig?.defaults.unit, title).toBeTruthy();
      expect(datasource?.uid, title).toBe('${' + 'datasource}');
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    }
    const positions = dashboard.panels.map(({ gridPos }) => gridPos);
    const overlaps = (a: GridPosition, b: GridPosition) =>
      a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
    for (const [i, a] of positions.entries())
      for (const b of positions.slice(i + 1)) expect(overlaps(a, b), JSON.stringify([a, b])).toBe(false);
  });

  it('queries only existing metrics, and shows all of them', () => {
    const queries = drawn.flatMap(({ targets }) => (targets ?? []).map(({ expr }) => expr));
    expect(queries.length).toBeGreaterThan(30);
    for (const expr of queries) expect(problemOf(expr), expr).toBeUndefined();
    const text = queries.join('\n');
    const unseen = [...kinds.keys()].filter((name) => name.startsWith('sandbank_') && !text.includes(name));
    expect(unseen).toEqual([]);
  });

  it('detects an invalid query', () => {
    expect(problemOf('sum(rate(sandbank_http_requests_total[5m]))')).toBe(
      'unknown: sandbank_http_requests_total',
    );
    expect(problemOf('sum(sandbank_delivery_due')).toBe('unclosed bracket');
    expect(problemOf('sandbank_delivery_due % % 1')).toMatch(/invalid token/);
  });
});

describe('the alerts', () => {
  const rules = file('alerts.yaml')
    .split(/\n {6}- alert: /)
    .slice(1);

  it('query existing metrics, and have a summary and a description', () => {
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

describe('the systemd unit', () => {
  const unit = file('sandbank.service');
  const has = spawnSync('systemd-analyze', ['--version']).status === 0;

  it('allows the JIT compiler, and has a stop timeout longer than the graceful shutdown', () => {
    expect(unit).toMatch(/^MemoryDenyWriteExecute=no$/m);
    expect(unit).toMatch(/^Restart=on-failure$/m);
    // 10 s for requests, 2 for deliveries, 3 for the request log, 3 for spans, and the last batch.
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThanOrEqual(25);
  });

  it.skipIf(!has)('is valid and has a low exposure level (skipped without systemd-analyze)', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-unit-'));
    const copy = path.join(folder, 'sandbank.service');
    writeFileSync(copy, unit.replace('/usr/bin/node', process.execPath));
    const verified = spawnSync('systemd-analyze', ['verify', '--man=no', copy], { encoding: 'utf8' });
    const warnings = verified.stderr.split('\n').filter((line) => line.includes('sandbank'));
    expect(warnings).toEqual([]);
    const security = execFileSync('systemd-analyze', ['security', '--offline=true', copy], {
      encoding: 'utf8',
    });
    expect(Number(/Overall exposure level for sandbank.service: ([\d.]+)/.exec(security)?.[1])).toBeLessThan(
      2,
    );
    rmSync(folder, { recursive: true });
  });
});

describe('the OpenTelemetry packages', () => {
  it('are imported by one module, which loads only when traces are exported', () => {
    const root = fileURLToPath(new URL('../../src/', import.meta.url));
    const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const matching = (pattern: RegExp) =>
      sources.filter((name) => pattern.test(readFileSync(path.join(root, name), 'utf8')));
    expect(matching(/from '@opentelemetry\//)).toEqual(['telemetry/otlp.ts']);
    expect(matching(/^import (?!type\b).*\/otlp\.ts'/m)).toEqual([]);
    expect(matching(/import\('\.\/otlp\.ts'\)/)).toEqual(['telemetry/telemetry.ts']);
  });
});
