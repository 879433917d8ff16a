/**
 * The lines that the providers' reports must have: computed from the scenario that the client chose and from the ledger postings, and
 * compared with the database and with the API. Imports nothing of the server.
 */
import { lifecycleOf, PaymentLifecycle, providerOf, TransferLifecycle } from './lifecycles.ts';
import { differences, type EntryRow, groupBy, type LineRow, type Rows, type Transition } from './rows.ts';
import { type App, type Body, type CompletedRequest, readJson, readText } from './servers.ts';

type Line = Omit<LineRow, 'transaction' | 'org'> & {
  readonly org: string;
  readonly transaction: string | null;
};

interface Movement {
  readonly gross: number;
  readonly fee: number;
  readonly currency: string;
  readonly provider: string;
  readonly scenario: string;
}

export interface ExpectedReports {
  readonly lines: readonly Line[];
  /** The result of the last report, by record id; null until the record is paid out. */
  readonly results: ReadonlyMap<string, string | null>;
}

export function expectedReports(
  rows: Rows,
  completed: ReadonlyMap<string, CompletedRequest>,
): ExpectedReports {
  const lines: Line[] = [];
  const results = new Map<string, string | null>();
  const histories = groupBy(rows.transitions, ({ id }) => id);
  const entries = groupBy(rows.entries, ({ record }) => record);
  const shown = new Map(rows.events.map(({ record, sequence, data }) => [`${record} ${sequence}`, data]));
  const transactions = new Map(
    rows.providerEvents.map((row) => [`${row.record} ${row.action} ${row.request}`, row.transaction]),
  );
  for (const { id, kind } of rows.records) {
    if (kind !== 'payment' && kind !== 'transfer') continue;
    const transitions = histories.get(id) ?? [];
    const request: Body = completed.get(transitions[0]?.request ?? '')?.body ?? {};
    const lifecycle = lifecycleOf(kind, request);
    results.set(id, null);
    for (const transition of transitions) {
      const posted = entries.get(id) ?? [];
      const movement =
        lifecycle instanceof PaymentLifecycle
          ? paymentMovement(transition, lifecycle, request, posted)
          : lifecycle instanceof TransferLifecycle
            ? transferMovement(transition, lifecycle, posted)
            : undefined;
      if (movement) {
        const created = injected(
          movement,
          transition,
          transactions.get(`${id} ${transition.action} ${transition.request}`) ?? '',
        );
        lines.push(...created);
        results.set(id, created.findLast(({ record }) => record !== null)?.result ?? null);
      }
      lifecycle.record(transition, shown.get(`${id} ${transition.version}`) ?? {});
    }
  }
  return { lines, results };
}

/** A payout is the amount that the provider owes according to the ledger; its fee is the amount posted to the fees account. */
function paymentMovement(
  transition: Transition,
  lifecycle: PaymentLifecycle,
  request: Body,
  entries: readonly EntryRow[],
): Movement | undefined {
  if (transition.action !== 'settle') return undefined;
  const before = entries.filter(({ version }) => version < transition.version);
  return {
    gross: sum(before, 'provider_receivable'),
    fee: -sum(before, 'fees'),
    currency: request.currency,
    provider: providerOf(request),
    scenario: lifecycle.scenario,
  };
}

/** Payouts are negative. Money that the beneficiary returns is always reported correctly. */
function transferMovement(
  transition: Transition,
  lifecycle: TransferLifecycle,
  entries: readonly EntryRow[],
): Movement | undefined {
  const isReturned = transition.action === 'return' && transition.from === 'completed';
  if (transition.action !== 'complete' && !isReturned) return undefined;
  const posted = entries.filter(({ version }) => version === transition.version);
  const bank = posted.flatMap(({ postings }) => postings).find(({ account }) => account === 'bank');
  return {
    gross: bank?.amount ?? 0,
    fee: 0,
    currency: bank?.currency ?? '',
    provider: 'tidewater',
    scenario: isReturned ? 'approve' : lifecycle.scenario,
  };
}

function sum(entries: readonly EntryRow[], account: string): number {
  const postings = entries.flatMap((entry) => entry.postings);
  return postings.reduce((total, posting) => total + (posting.account === account ? posting.amount : 0), 0);
}

/** The report lines that the scenario of a payout injects. */
function injected(
  movement: Movement,
  { org, id, request, at }: Transition,
  transaction: string,
): readonly Line[] {
  const { gross, fee, currency, provider, scenario } = movement;
  const ledger = { ledgerGross: gross, ledgerFee: fee };
  const common = { org, day: new Date(at).toISOString().slice(0, 10), provider, currency, request, at };
  const correct: Line = { ...common, transaction, record: id, ...ledger, gross, fee, result: 'matched' };
  const noLedger = { ledgerGross: null, ledgerFee: null };
  switch (scenario) {
    case 'settle_short':
      return [{ ...correct, gross: short(gross), result: 'amount_mismatch' }];
    case 'settle_missing':
      return [{ ...correct, gross: null, fee: null, result: 'missing_at_provider' }];
    case 'settle_duplicate':
      return [correct, { ...correct, ...noLedger, result: 'duplicate' }];
    case 'settle_unknown':
      return [
        correct,
        { ...correct, ...noLedger, record: null, transaction: null, result: 'missing_in_ledger' },
      ];
    default:
      return [correct];
  }
}

/** One percent less, rounded down, at least one unit. */
function short(gross: number): number {
  const size = Math.abs(gross);
  const less = size - Math.max(1, Math.floor(size / 100));
  return gross < 0 ? -less : less;
}

const reportLine = (line: Line, transaction: string | null): string =>
  [
    ...[line.org, line.day, line.provider, transaction ?? 'unknown', line.record, line.currency],
    ...[line.ledgerGross, line.ledgerFee, line.gross, line.fee, line.result, line.request, line.at],
  ].join(' ');

export function auditReportLines(rows: Rows, { lines, results }: ExpectedReports): readonly string[] {
  const known = new Set(rows.providerEvents.map(({ transaction }) => transaction));
  const findings = [
    ...differences(
      'the report lines',
      rows.lines.map((line) => reportLine(line, known.has(line.transaction) ? line.transaction : null)),
      lines.map((line) => reportLine(line, line.transaction)),
    ),
  ];
  for (const { id, reconciliation } of rows.records) {
    const expectedLines = results.get(id) ?? null;
    if (reconciliation !== expectedLines)
      findings.push(`${id}: its reconciliation is ${reconciliation}, not ${expectedLines}`);
  }
  return findings;
}

/** The reports of an organization as the API returns them. */
export interface ReportsRead {
  readonly counts: Readonly<Record<string, number>>;
  readonly days: readonly {
    readonly day: string;
    readonly lines: readonly Body[];
    readonly csv: readonly string[];
  }[];
}

export async function readReports(url: string, app: App): Promise<ReportsRead> {
  const { counts } = await readJson(url, app, 'reconciliation?limit=1');
  const days = (await pages(url, app, 'settlements?limit=100')).map(({ date }) => String(date));
  const read = async (day: string) => ({
    day,
    lines: await pages(url, app, `settlements/${day}?limit=100`),
    csv: (await readText(url, app, `settlements/${day}`, 'text/csv')).trimEnd().split('\r\n').slice(1),
  });
  return { counts, days: await Promise.all(days.map(read)) };
}

const RESULTS = ['matched', 'amount_mismatch', 'missing_at_provider', 'missing_in_ledger', 'duplicate'];

export function auditReportsRead(
  reported: ReportsRead,
  org: string,
  { lines }: ExpectedReports,
): readonly string[] {
  const own = lines.filter((line) => line.org === org);
  const counts = RESULTS.map((result) => [result, own.filter((line) => line.result === result).length]);
  const days = [...new Set(own.map(({ day }) => day))];
  return [
    ...differences('the counts', Object.entries(reported.counts).map(String), counts.map(String)),
    ...differences(
      'the days',
      reported.days.map(({ day }) => day),
      days,
    ),
    ...reported.days.flatMap((day) => auditDay(day, own)),
  ];
}

function auditDay({ day, lines, csv }: ReportsRead['days'][number], own: readonly Line[]): readonly string[] {
  const expectedLines = own.filter((line) => line.day === day && line.gross !== null);
  const known = new Set(expectedLines.map(({ transaction }) => transaction));
  const named = (transaction: string | null) =>
    transaction !== null && known.has(transaction) ? transaction : 'unknown';
  const line = (...parts: readonly unknown[]) => parts.join(',');
  const expected = expectedLines.map(({ provider, transaction, currency, gross, fee, at }) => {
    const net = Number(gross) - Number(fee);
    return line(day, provider, named(transaction), currency, gross, fee, net, new Date(at).toISOString());
  });
  const fromJson = lines.map(
    ({ date, provider, providerTransactionId, currency, gross, fee, net, settledAt }) =>
      line(date, provider, named(providerTransactionId), currency, gross, fee, net, settledAt),
  );
  const fromCsv = csv.map((row) => {
    const [date, provider, transaction = '', ...rest] = row.split(',');
    return line(date, provider, named(transaction), ...rest);
  });
  return [
    ...differences(`the report of ${day}`, fromJson, expected),
    ...differences(`the report of ${day} as CSV`, fromCsv, expected),
  ];
}

async function pages(url: string, app: App, path: string): Promise<readonly Body[]> {
  const data: Body[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Body = await readJson(
      url,
      app,
      cursor === '' ? path : `${path}&cursor=${encodeURIComponent(cursor)}`,
    );
    data.push(...page.data);
    cursor = page.nextCursor;
  }
  return data;
}
