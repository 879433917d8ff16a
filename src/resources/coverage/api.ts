import { type Static, Type } from 'typebox';
import { scopes } from '../../kernel/permissions.ts';
import type { Reader, Route } from '../../kernel/route.ts';
import { resource, strict } from '../../kernel/schema.ts';
import { resetCoverage, type Universe } from './commands.ts';
import { findMet } from './store.ts';
import { type CoverageKind, coverageKinds } from './table.ts';

/** What was met of what can be met. */
export interface CoverageReport {
  readonly object: 'coverage';
  readonly sandbox: true;
  readonly status: 'ok';
  readonly summary: Share;
  readonly sections: readonly CoverageSection[];
  readonly [field: string]: unknown;
}

interface Share {
  readonly met: number;
  readonly total: number;
}

export interface CoverageSection extends Share {
  readonly kind: CoverageKind;
  readonly items: readonly { readonly name: string; readonly count: number }[];
}

/** A part of it. */
export interface CoveragePart {
  readonly kind?: CoverageKind | undefined;
  readonly resource?: string | undefined;
}

/** The report of one organization, of several together, or of all there are. Of a part, sections without items are left out. */
export async function coverageOf(
  reader: Pick<Reader, 'rows'>,
  orgIds: readonly string[] | 'all',
  universe: Universe,
  part: CoveragePart = {},
): Promise<CoverageReport> {
  const rows = await findMet(reader, orgIds);
  const counts = new Map(rows.map(({ kind, name, count }) => [`${kind} ${name}`, count]));
  const wanted = universe.filter(
    (one) =>
      (part.kind === undefined || one.kind === part.kind) &&
      (part.resource === undefined || one.resource === part.resource),
  );
  const sections = coverageKinds.flatMap((kind) => {
    const items = wanted
      .filter((one) => one.kind === kind)
      .map(({ name }) => ({ name, count: counts.get(`${kind} ${name}`) ?? 0 }));
    const met = items.filter(({ count }) => count > 0).length;
    return items.length === 0 ? [] : { kind, met, total: items.length, items };
  });
  const sum = (of: keyof Share) => sections.reduce((total, section) => total + section[of], 0);
  return {
    object: 'coverage',
    sandbox: true,
    status: 'ok',
    summary: { met: sum('met'), total: sum('total') },
    sections,
  };
}

/**
 * The report as test runners write theirs, so that a build server shows it: a suite a kind, a case an item. What was not met
 * is skipped and not failed: a gap is no fault.
 */
export function junitOf({ summary, sections }: Pick<CoverageReport, 'summary' | 'sections'>): string {
  const suites = sections.map(({ kind, met, total, items }) => {
    const cases = items.map(({ name, count }) => {
      const start = `    <testcase classname="sandbank.${kind}" name="${xmlText(name)}" time="0"`;
      return count > 0 ? `${start}/>` : `${start}><skipped message="not met"/></testcase>`;
    });
    const head = `  <testsuite name="${kind}" tests="${total}" failures="0" errors="0" skipped="${total - met}" time="0">`;
    return [head, ...cases, '  </testsuite>'].join('\n');
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="Sandbank coverage" tests="${summary.total}" failures="0" errors="0" time="0">`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}

function xmlText(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

const Share = { met: Type.Integer({ minimum: 0 }), total: Type.Integer({ minimum: 0 }) };

const CoverageSchema = resource('coverage', ['ok'], {
  summary: Type.Object(Share),
  sections: Type.Array(
    Type.Object({
      kind: Type.Enum([...coverageKinds]),
      ...Share,
      items: Type.Array(
        Type.Object({
          name: Type.String(),
          count: Type.Integer({ minimum: 0, description: 'How often it was met; 0 is a gap.' }),
        }),
      ),
    }),
  ),
});

const meta = { tag: 'Coverage' } as const;

/** The universe names these routes as well, so it is made behind them. */
export function coverageRoutes(resources: readonly string[], universe: () => Universe): readonly Route[] {
  const Query = strict({
    kind: Type.Optional(Type.Enum([...coverageKinds], { description: 'Only items of this kind.' })),
    resource: Type.Optional(Type.Enum([...resources], { description: 'Only what is about this resource.' })),
  });
  return [
    {
      ...meta,
      operationId: 'getCoverage',
      method: 'GET',
      path: 'developer_api_coverage',
      scope: 'any',
      summary: 'Which states, moves, events, operations and errors were met so far; as JSON or as JUnit XML',
      query: Query,
      alternateContentType: 'application/xml',
      flushBefore: 'coverage',
      response: CoverageSchema,
      responseName: 'Coverage',
      read: async ({ reader, principal, query, accepts }) => {
        const part = query as Static<typeof Query>;
        const report = await coverageOf(reader, [principal.orgId], universe(), part);
        if (!accepts('application/xml')) return report;
        return { contentType: 'application/xml', text: junitOf(report), headers: {} };
      },
    },
    {
      ...meta,
      operationId: 'resetCoverage',
      method: 'POST',
      path: 'developer_api_coverage/reset',
      scope: scopes.filter((scope) => scope.endsWith(':write')),
      summary: 'Forget what was met, and count from here',
      response: resource('coverage_reset', ['ok'], {}),
      responseName: 'CoverageReset',
      target: 'organization',
      command: resetCoverage,
      input: () => null,
    },
  ];
}
