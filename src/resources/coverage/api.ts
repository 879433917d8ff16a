import { type Static, Type } from 'typebox';
import { scopes } from '../../kernel/permissions.ts';
import type { Route } from '../../kernel/route.ts';
import { resource, strict } from '../../kernel/schema.ts';
import type { Reader } from '../../kernel/table.ts';
import { writeRoute } from '../../kernel/write-route.ts';
import { resetCoverage, type Universe } from './commands.ts';
import { prepareResetCoverage } from './prepare.ts';
import { findCovered } from './store.ts';
import { type CoverageKind, coverageKinds } from './table.ts';

/** The covered items among all items that tests can cover. */
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

interface CoverageSection extends Share {
  readonly kind: CoverageKind;
  readonly items: readonly { readonly name: string; readonly count: number }[];
}

/** A filter for the report. */
export interface CoverageFilter {
  readonly kind?: CoverageKind | undefined;
  readonly resource?: string | undefined;
}

/** The report of one organization, several or all. With a filter, sections without items are left out. */
export async function coverageOf(
  reader: Pick<Reader, 'rows'>,
  orgIds: readonly string[] | 'all',
  universe: Universe,
  filter: CoverageFilter = {},
): Promise<CoverageReport> {
  const rows = await findCovered(reader, orgIds);
  const counts = new Map(rows.map(({ kind, name, count }) => [`${kind} ${name}`, count]));
  const selected = universe.filter(
    (one) =>
      (filter.kind === undefined || one.kind === filter.kind) &&
      (filter.resource === undefined || one.resource === filter.resource),
  );
  const sections = coverageKinds.flatMap((kind) => {
    const items = selected
      .filter((one) => one.kind === kind)
      .map(({ name }) => ({ name, count: counts.get(`${kind} ${name}`) ?? 0 }));
    const met = items.filter(({ count }) => count > 0).length;
    return items.length === 0 ? [] : { kind, met, total: items.length, items };
  });
  const sum = (field: keyof Share) => sections.reduce((total, section) => total + section[field], 0);
  return {
    object: 'coverage',
    sandbox: true,
    status: 'ok',
    summary: { met: sum('met'), total: sum('total') },
    sections,
  };
}

/**
 * The report as JUnit XML, which build servers show: one suite for each kind, one case for each item. An item that is not
 * covered is skipped, not failed: a gap is not an error.
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
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
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
          count: Type.Integer({ minimum: 0, description: 'How often the item was covered; 0 is a gap.' }),
        }),
      ),
    }),
  ),
});

const meta = { tag: 'Coverage' } as const;

/** The universe contains these routes, so it is built after them. */
export function coverageRoutes(resources: readonly string[], universe: () => Universe): readonly Route[] {
  const Query = strict({
    kind: Type.Optional(Type.Enum([...coverageKinds], { description: 'Only items of this kind.' })),
    resource: Type.Optional(Type.Enum([...resources], { description: 'Only items of this resource.' })),
  });
  return [
    {
      ...meta,
      operationId: 'getCoverage',
      method: 'GET',
      path: 'developer_api_coverage',
      scope: 'any',
      summary: 'Retrieve the covered states, moves, events, operations and errors as JSON or JUnit XML',
      query: Query,
      alternateContentType: 'application/xml',
      flushBefore: 'coverage',
      response: CoverageSchema,
      responseName: 'Coverage',
      read: async ({ reader, principal, query, accepts }) => {
        const filter = query as Static<typeof Query>;
        const report = await coverageOf(reader, [principal.orgId], universe(), filter);
        if (!accepts('application/xml')) return report;
        return { contentType: 'application/xml', text: junitOf(report), headers: {} };
      },
    },
    writeRoute({
      ...meta,
      operationId: 'resetCoverage',
      method: 'POST',
      path: 'developer_api_coverage/reset',
      scope: scopes.filter((scope) => scope.endsWith(':write')),
      summary: 'Reset all coverage counts to zero',
      response: resource('coverage_reset', ['ok'], {}),
      responseName: 'CoverageReset',
      target: 'organization',
      command: resetCoverage,
      input: () => null,
      prepare: prepareResetCoverage,
    }),
  ];
}
