import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { CoverageAnswer, GetCoverageQuery } from '../../sdk/client.ts';
import { declare } from '../declare.ts';
import { fieldValues } from '../generated/values.ts';
import { table } from '../layout.ts';
import { organizationOf } from '../organization.ts';
import type { Output } from '../output.ts';
import { withoutUndefined } from '../paging.ts';
import { exits, wrongUsage } from '../problem.ts';
import { choice, list, whole } from '../reading.ts';
import type { Session } from '../session.ts';

interface CoverageOptions {
  readonly junit?: string;
  readonly missing?: true;
  readonly failUnder?: number;
  readonly kind?: string;
  readonly resource?: string;
  readonly organization?: readonly string[];
  readonly all?: true;
  readonly reset?: true;
}

interface Source {
  readonly report: () => Promise<CoverageAnswer>;
  readonly junit: () => Promise<string>;
}

export function addCoverage(program: Command): void {
  declare<CoverageOptions>(program, 'coverage', {
    summary: 'Show which states, events and errors your tests cover',
    details:
      'It covers the organization of the API key; --organization and --all cover several and need the operator token. The exit code is 1 when --fail-under is not reached.',
    options: [
      ['--missing', 'list the uncovered items'],
      ['--junit <file>', 'also write a JUnit XML report'],
      ['--fail-under <percent>', 'exit with 1 below this percentage', whole(0, 100)],
      [
        '--kind <kind>',
        'only this kind: state, move, event, operation or error',
        choice(...fieldValues.getCoverage.kind),
      ],
      [
        '--resource <name>',
        'only this resource, such as payment or transfer',
        choice(...fieldValues.getCoverage.resource),
      ],
      ['--organization <names>', 'names or ids of organizations', list],
      ['--all', 'all organizations of the server'],
      ['--reset', 'clear the coverage and start counting again'],
    ],
    examples: [
      ['coverage --missing --resource payment'],
      ['coverage --junit coverage.xml --fail-under 60'],
      ['coverage --all --json | jq .summary'],
    ],
    run: async (session, options) => {
      const { out } = session;
      const { junit, missing, failUnder, kind, resource, organization, all } = options;
      const isMany = organization !== undefined || all === true;
      if (isMany && (kind ?? resource ?? options.reset) !== undefined)
        throw wrongUsage('--kind, --resource and --reset apply only to the organization of the API key.');
      if (options.reset) {
        const answer = await (await session.sandbank()).coverage.reset();
        out.show(answer, () => 'Coverage cleared.');
        return undefined;
      }
      const source = isMany
        ? await ofMany(session, all ? [] : (organization ?? []))
        : await ofKey(session, withoutUndefined({ kind, resource }) as GetCoverageQuery);
      const report = await source.report();
      out.show(report, () => coverageText(out, report, missing === true));
      if (junit !== undefined) {
        await writeFile(junit, await source.junit());
        out.say(`JUnit XML written to ${junit}.`);
      }
      // Integers on both sides, so that rounding cannot reach the threshold.
      const { met, total } = report.summary;
      if (failUnder === undefined || met * 100 >= failUnder * total) return exits.fine;
      out.say(out.paintAside.red(`Coverage is ${percent(met, total)}, below --fail-under ${failUnder}%.`));
      return exits.refused;
    },
  });
}

async function ofKey(session: Session, query: GetCoverageQuery): Promise<Source> {
  const { coverage } = await session.sandbank();
  return { report: () => coverage.retrieve(query), junit: () => coverage.junit(query) };
}

async function ofMany(session: Session, names: readonly string[]): Promise<Source> {
  const operator = await session.operator();
  const organizationIds: string[] = [];
  for (const name of names) organizationIds.push(await organizationOf(session, operator, name));
  return {
    report: () => operator.coverage({ organizationIds }),
    junit: () => operator.junit({ organizationIds }),
  };
}

function coverageText({ paint }: Output, { summary, sections }: CoverageAnswer, isMissing: boolean): string {
  const rows = [...sections, { kind: 'all', ...summary, items: [] }].map(({ kind, met, total }) => [
    kind,
    String(met),
    String(total),
    percent(met, total),
  ]);
  const gaps = sections.flatMap(({ kind, items }) =>
    items.filter(({ count }) => count === 0).map(({ name }) => `  ${paint.dim(kind)}  ${name}`),
  );
  const text = table(['KIND', 'COVERED', 'OF', ''], rows);
  return isMissing ? `${text}\n\nNot covered:\n${gaps.join('\n') || '  nothing'}` : text;
}

function percent(met: number, total: number): string {
  return total === 0 ? '-' : `${Math.floor((met * 100) / total)}%`;
}
