/**
 * The audit of the chaos test: compares the requests and responses of all clients with the rows of the database. Knows only the contract and
 * imports nothing of the server.
 */
import { auditRows, type Query } from '../../support/audit.ts';
import { auditReportLines, type ExpectedReports, expectedReports } from './reports.ts';
import { differences, groupBy, type Rows, readRows, type Transition } from './rows.ts';
import type { App, Body, CompletedRequest } from './servers.ts';
import { auditTimers, type ClockReplay, replayClock } from './timers.ts';

export interface ChaosAudit {
  readonly rows: Rows;
  readonly findings: readonly string[];
  readonly expected: ExpectedReports;
  readonly timersFired: number;
  /** The latest time of any transition of a record. */
  readonly latestTime: number;
}

/** Runs every audit while no server is running. */
export async function auditChaosRun(
  query: Query,
  completed: readonly CompletedRequest[],
  apps: readonly App[],
): Promise<ChaosAudit> {
  const rows = await readRows(query);
  const accepted = new Map(
    completed.filter(({ status }) => status < 300).map((one) => [one.response.requestId as string, one]),
  );
  const clocks = auditClocks(rows, accepted, apps);
  const expected = expectedReports(rows, accepted);
  const timers = auditTimers(rows, { completed: accepted, clocks: clocks.replays });
  return {
    rows,
    expected,
    timersFired: timers.timersFired,
    latestTime: Math.max(
      ...rows.transitions.filter(({ resource }) => resource !== 'clock').map(({ at }) => at),
    ),
    findings: [
      ...(await auditRows(query)),
      ...auditTransfers(rows),
      ...clocks.findings,
      ...timers.findings,
      ...auditResponses(rows, completed),
      ...auditReportLines(rows, expected),
    ],
  };
}

function auditClocks(rows: Rows, completed: ReadonlyMap<string, CompletedRequest>, apps: readonly App[]) {
  const replays = new Map<string, ClockReplay>();
  const findings: string[] = [];
  const idOf = appIds(rows);
  for (const app of apps) {
    const id = idOf(app);
    const transitions = rows.transitions.filter(
      (transition) => transition.id === `clk${id.slice('app'.length)}`,
    );
    const replay = replayClock(transitions, completed);
    replays.set(id, replay.clock);
    findings.push(...replay.findings);
    const row = rows.clocks.find((clock) => clock.app === id);
    if (row && !replay.clock.equals(row))
      findings.push(`the clock of ${app.name} does not match its requests: ${JSON.stringify(row)}`);
    if (!row && transitions.length > 0) findings.push(`the clock of ${app.name} has a history but no row`);
  }
  return { replays, findings };
}

function appIds(rows: Rows): (app: App) => string {
  const ids = new Map(rows.apps.map(({ organization, name, id }) => [`${organization} ${name}`, id]));
  return ({ organization, name }) => ids.get(`${organization} ${name}`) ?? '';
}

function auditResponses(rows: Rows, completed: readonly CompletedRequest[]): readonly string[] {
  return [
    ...auditStoredResponses(rows, completed),
    ...auditTransitions(rows, completed),
    ...auditEvents(rows),
    ...auditEffects(rows, completed),
  ];
}

const isStored = ({ status }: CompletedRequest): boolean => status < 300 || status === 409 || status === 422;
const isAccepted = ({ status }: CompletedRequest): boolean => status < 300;

/** The stored responses are exactly the final responses that clients got. */
function auditStoredResponses(rows: Rows, completed: readonly CompletedRequest[]): readonly string[] {
  const idOf = appIds(rows);
  return differences(
    'the stored responses',
    rows.storedResponses.map(({ app, key, status, body }) => `${app} ${key} ${status} ${body}`),
    completed.filter(isStored).map(({ app, key, status, text }) => `${idOf(app)} ${key} ${status} ${text}`),
  );
}

/** Every accepted request has one row in the audit trail and the transition that its response shows. */
function auditTransitions(rows: Rows, completed: readonly CompletedRequest[]): readonly string[] {
  const findings: string[] = [];
  const transitions = new Map(
    rows.transitions.map((transition) => [`${transition.id} ${transition.version}`, transition]),
  );
  const accepted = groupBy(
    rows.audits.filter(({ outcome }) => outcome === 'accepted'),
    ({ request }) => request,
  );
  for (const command of completed.filter(isAccepted)) {
    const { response, path } = command;
    const report = (problem: string) => findings.push(`${path} ${command.key}: ${problem}`);
    if (response.object === 'clock' || response.object === 'webhook') continue;
    const trail = accepted.get(response.requestId) ?? [];
    if (trail.length !== 1) report(`it has ${trail.length} rows in the audit trail`);
    const transition = transitions.get(`${response.id} ${response.version}`);
    const actual = transition && [transition.request, transition.to, transition.at].join(' ');
    const expected = [response.requestId, response.status, Date.parse(response.updatedAt)].join(' ');
    if (actual !== expected) report(`its response says ${expected}, and the history says ${actual}`);
  }
  return findings;
}

/** Every transition has one event with the same time. */
function auditEvents(rows: Rows): readonly string[] {
  const line = (parts: readonly unknown[]) => parts.join(' ');
  return differences(
    'the events',
    rows.events.map(({ id, record, sequence, request, at, data }) =>
      line([id, record, sequence, request, at, data.status, data.version]),
    ),
    rows.transitions
      .filter(({ resource }) => resource !== 'clock')
      .map(({ event, id, version, request, at, to }) => line([event, id, version, request, at, to, version])),
  );
}

/** The effects in the response of an advance are its transitions, in order. */
function auditEffects(rows: Rows, completed: readonly CompletedRequest[]): readonly string[] {
  const findings: string[] = [];
  const byRequest = groupBy(rows.transitions, ({ request }) => request);
  const types = new Map(rows.events.map(({ id, type }) => [id, type]));
  for (const { response, path, status } of completed) {
    if (path !== 'clock/advance' || status >= 300) continue;
    const happened = (response.happened as readonly Readonly<Record<string, string>>[]).filter(
      // The audit of deliveries checks their attempts.
      ({ type }) => type !== 'delivery',
    );
    const expected = (byRequest.get(response.requestId) ?? []).filter(({ resource }) => resource !== 'clock');
    const name = `the effects of ${response.requestId}`;
    const transitionLine = ({ at, resource, id, action, from, to, event }: Transition) =>
      [new Date(at).toISOString(), resource, id, action, from ?? '', to, types.get(event ?? '') ?? ''].join(
        ' ',
      );
    const effectLine = (row: Readonly<Record<string, string>>) =>
      [row.at, row.type, row.id, row.action, row.from ?? '', row.to, row.event].join(' ');
    findings.push(...differences(name, happened.map(effectLine), expected.map(transitionLine)));
    // Ordered by time, and for each record by version.
    const early = happened.findIndex(({ at = '' }, i) => i > 0 && at < (happened[i - 1]?.at ?? ''));
    if (early > 0)
      findings.push(
        `${name} are not in order of time: ${[early - 1, early].map((i) => effectLine(happened[i] ?? {})).join(', then ')}`,
      );
    const byRecord = groupBy(
      happened.map((row) => ({ id: row.id ?? '', line: effectLine(row) })),
      ({ id }) => id,
    );
    for (const [id, lines] of byRecord) {
      const versions = expected.filter((transition) => transition.id === id).map(transitionLine);
      if (lines.map(({ line }) => line).join() !== versions.join())
        findings.push(`${name} on ${id} are not in order of version`);
    }
  }
  return findings;
}

/** The postings of each transfer add up to the balances of its status. */
function auditTransfers({ entries, records, events }: Rows): readonly string[] {
  const shown = new Map<string, Body>();
  for (const { record, sequence, data } of events)
    if (sequence > (shown.get(record)?.version ?? 0)) shown.set(record, data);
  const posted = groupBy(entries, ({ record }) => record);
  return records
    .filter(({ kind }) => kind === 'transfer')
    .flatMap(({ id }) => {
      const sums = new Map<string, number>();
      const add = (account: string, currency: string, amount: number) =>
        sums.set(`${account} ${currency}`, (sums.get(`${account} ${currency}`) ?? 0) + amount);
      for (const { account, currency, amount } of (posted.get(id) ?? []).flatMap(({ postings }) => postings))
        add(account, currency, amount);
      const found = lines(sums);
      sums.clear();
      for (const [account, currency, amount] of expectedBalances(shown.get(id) ?? {}))
        add(account, currency, amount);
      return differences(`the balances of ${id}`, found, lines(sums));
    });
}

function lines(sums: ReadonlyMap<string, number>): readonly string[] {
  return [...sums].filter(([, sum]) => sum !== 0).map(([key, sum]) => `${key} ${sum}`);
}

type Balance = readonly [account: string, currency: string, amount: number];

function expectedBalances(transfer: Body): readonly Balance[] {
  const { status, fundFrom, sourceCurrency: source, targetCurrency: target } = transfer;
  const { sourceAmount, targetAmount, feeAmount, totalAmount } = transfer;
  const payer: Balance = [fundFrom === 'balance' ? 'merchant_available' : 'bank', source, totalAmount];
  const converted: readonly Balance[] = [
    payer,
    ['fx_position', source, -sourceAmount],
    ['fees', source, -feeAmount],
    ['fx_position', target, targetAmount],
  ];
  const account = {
    converted: 'payout_clearing',
    returned: 'payout_clearing',
    sent: 'payouts_in_transit',
    completed: 'bank',
  }[status as string];
  if (account !== undefined) return [...converted, [account, target, -targetAmount]];
  if (status === 'funded' || status === 'in_review')
    return [payer, ['transfer_funding', source, -totalAmount]];
  return [];
}
