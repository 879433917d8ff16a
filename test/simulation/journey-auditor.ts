/**
 * The auditor of a journey. It knows the contract, what the clients asked for and were told, and the rows of the database;
 * of the code it knows nothing.
 */
import { audit } from './auditor.ts';
import { appIds, auditAnswers } from './journey-answers.ts';
import { auditBooks } from './journey-books.ts';
import type { App, Told } from './journey-client.ts';
import { type ClockStory, storyOf } from './journey-clocks.ts';
import { auditLines, type Expected, expectedReports } from './journey-reports.ts';
import { type Query, type Rows, readRows } from './journey-rows.ts';
import { auditTimers } from './journey-timers.ts';

export interface Audited {
  readonly rows: Rows;
  readonly findings: readonly string[];
  readonly expected: Expected;
  readonly fired: number;
  /** The latest instant on any record. */
  readonly latest: number;
}

export async function auditJourney(
  query: Query,
  told: readonly Told[],
  apps: readonly App[],
): Promise<Audited> {
  const rows = await readRows(query);
  const accepted = new Map(
    told.filter(({ status }) => status < 300).map((one) => [one.answer.requestId as string, one]),
  );
  const clocks = auditClocks(rows, accepted, apps);
  const expected = expectedReports(rows, accepted);
  const { findings, fired } = auditTimers(rows, { told: accepted, stories: clocks.stories });
  return {
    rows,
    expected,
    fired,
    latest: Math.max(...rows.moves.filter(({ resource }) => resource !== 'clock').map(({ at }) => at)),
    findings: [
      ...(await audit(query)),
      ...auditBooks(rows),
      ...clocks.findings,
      ...findings,
      ...auditAnswers(rows, told),
      ...auditLines(rows, expected),
    ],
  };
}

function auditClocks(rows: Rows, told: ReadonlyMap<string, Told>, apps: readonly App[]) {
  const stories = new Map<string, ClockStory>();
  const findings: string[] = [];
  const idOf = appIds(rows);
  for (const app of apps) {
    const id = idOf(app);
    const moves = rows.moves.filter((move) => move.id === `clk${id.slice('app'.length)}`);
    const ofClock = storyOf(moves, told);
    stories.set(id, ofClock.story);
    findings.push(...ofClock.findings);
    const row = rows.clocks.find((clock) => clock.app === id);
    if (row && !ofClock.story.equals(row))
      findings.push(`the clock of ${app.name} is not where it was left: ${JSON.stringify(row)}`);
    if (!row && moves.length > 0) findings.push(`the clock of ${app.name} has a history and no row`);
  }
  return { stories, findings };
}

/** What is due by clocks that were moved so far ahead that nothing must be; where they are is known by organization and name. */
export function overdue(rows: Rows, nows: ReadonlyMap<string, number>): readonly string[] {
  const now = new Map(
    rows.apps.map(({ id, organization, name }) => [id, nows.get(`${organization} ${name}`) ?? 0]),
  );
  return rows.timers
    .filter(({ app, at }) => at <= (now.get(app) ?? 0))
    .map(({ id, at }) => `${id} has been due since ${new Date(at).toISOString()}`);
}
