/**
 * What the providers' reports must hold: for every record that was paid out, what its scenario injects, worked out from the
 * scenario that its client chose and from the postings of the ledger. It must be in the database, on the record, and in what
 * the API says of each day, to the last unit.
 */
import { type App, type Body, look, lookAt, type Told } from './journey-client.ts';
import { lifeOf, PaymentLife, providerOf, TransferLife } from './journey-dues.ts';
import { type EntryRow, grouped, type LineRow, type Move, type Rows } from './journey-rows.ts';

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

export interface Expected {
  readonly lines: readonly Line[];
  /** By the id of the record, of its last report; null until it is paid out. */
  readonly results: ReadonlyMap<string, string | null>;
}

export function expectedReports(rows: Rows, told: ReadonlyMap<string, Told>): Expected {
  const lines: Line[] = [];
  const results = new Map<string, string | null>();
  const histories = grouped(rows.moves, ({ id }) => id);
  const entries = grouped(rows.entries, ({ record }) => record);
  const shown = new Map(rows.events.map(({ record, sequence, data }) => [`${record} ${sequence}`, data]));
  const transactions = new Map(
    rows.notices.map((row) => [`${row.record} ${row.action} ${row.request}`, row.transaction]),
  );
  for (const { id, kind } of rows.records) {
    if (kind !== 'payment' && kind !== 'transfer') continue;
    const moves = histories.get(id) ?? [];
    const asked: Body = told.get(moves[0]?.request ?? '')?.body ?? {};
    const life = lifeOf(kind, asked);
    results.set(id, null);
    for (const move of moves) {
      const posted = entries.get(id) ?? [];
      const paid =
        life instanceof PaymentLife
          ? paymentMovement(move, life, asked, posted)
          : life instanceof TransferLife
            ? transferMovement(move, life, posted)
            : undefined;
      if (paid) {
        const made = injected(paid, move, transactions.get(`${id} ${move.action} ${move.request}`) ?? '');
        lines.push(...made);
        results.set(id, made.findLast(({ record }) => record !== null)?.result ?? null);
      }
      life.apply(move, shown.get(`${id} ${move.version}`) ?? {});
    }
  }
  return { lines, results };
}

/** What a payment pays out is what the provider owes by the books; what it keeps is what was posted to the fees. */
function paymentMovement(
  move: Move,
  life: PaymentLife,
  asked: Body,
  entries: readonly EntryRow[],
): Movement | undefined {
  if (move.action !== 'settle') return undefined;
  const before = entries.filter(({ version }) => version < move.version);
  return {
    gross: sum(before, 'provider_receivable'),
    fee: -sum(before, 'fees'),
    currency: asked.currency,
    provider: providerOf(asked),
    scenario: life.scenario,
  };
}

/** What goes out of the bank is negative. What comes back from the beneficiary is reported rightly, whatever the scenario. */
function transferMovement(
  move: Move,
  life: TransferLife,
  entries: readonly EntryRow[],
): Movement | undefined {
  const isBack = move.action === 'return' && move.from === 'completed';
  if (move.action !== 'complete' && !isBack) return undefined;
  const posted = entries.filter(({ version }) => version === move.version);
  const bank = posted.flatMap(({ postings }) => postings).find(({ account }) => account === 'bank');
  return {
    gross: bank?.amount ?? 0,
    fee: 0,
    currency: bank?.currency ?? '',
    provider: 'tidewater',
    scenario: isBack ? 'approve' : life.scenario,
  };
}

function sum(entries: readonly EntryRow[], account: string): number {
  const postings = entries.flatMap((entry) => entry.postings);
  return postings.reduce((total, posting) => total + (posting.account === account ? posting.amount : 0), 0);
}

function injected(movement: Movement, { org, id, request, at }: Move, transaction: string): readonly Line[] {
  const { gross, fee, currency, provider, scenario } = movement;
  const ledger = { ledgerGross: gross, ledgerFee: fee };
  const place = { org, day: new Date(at).toISOString().slice(0, 10), provider, currency, request, at };
  const right: Line = { ...place, transaction, record: id, ...ledger, gross, fee, result: 'matched' };
  const beside = { ledgerGross: null, ledgerFee: null };
  switch (scenario) {
    case 'settle_short':
      return [{ ...right, gross: short(gross), result: 'amount_mismatch' }];
    case 'settle_missing':
      return [{ ...right, gross: null, fee: null, result: 'missing_at_provider' }];
    case 'settle_duplicate':
      return [right, { ...right, ...beside, result: 'duplicate' }];
    case 'settle_unknown':
      return [right, { ...right, ...beside, record: null, transaction: null, result: 'missing_in_ledger' }];
    default:
      return [right];
  }
}

/** A hundredth less, rounded down, and at least one unit. */
function short(gross: number): number {
  const size = Math.abs(gross);
  const less = size - Math.max(1, Math.floor(size / 100));
  return gross < 0 ? -less : less;
}

/** Equal as bags; the first differences in words. */
export function differences(
  what: string,
  found: readonly string[],
  wanted: readonly string[],
): readonly string[] {
  const counts = new Map<string, number>();
  for (const line of found) counts.set(line, (counts.get(line) ?? 0) + 1);
  for (const line of wanted) counts.set(line, (counts.get(line) ?? 0) - 1);
  const differing = [...counts].filter(([, count]) => count !== 0);
  return differing.slice(0, 5).map(([line, n]) => `${what}: ${n > 0 ? 'too much' : 'missing'}: ${line}`);
}

const inWords = (line: Line, transaction: string | null): string =>
  [
    ...[line.org, line.day, line.provider, transaction ?? 'of no record', line.record, line.currency],
    ...[line.ledgerGross, line.ledgerFee, line.gross, line.fee, line.result, line.request, line.at],
  ].join(' ');

export function auditLines(rows: Rows, { lines, results }: Expected): readonly string[] {
  const known = new Set(rows.notices.map(({ transaction }) => transaction));
  const findings = [
    ...differences(
      'the report lines',
      rows.lines.map((line) => inWords(line, known.has(line.transaction) ? line.transaction : null)),
      lines.map((line) => inWords(line, line.transaction)),
    ),
  ];
  for (const { id, reconciliation } of rows.records) {
    const wanted = results.get(id) ?? null;
    if (reconciliation !== wanted)
      findings.push(`${id}: its reconciliation is ${reconciliation}, not ${wanted}`);
  }
  return findings;
}

/** What the API tells an organization of its reports. */
export interface Reported {
  readonly counts: Readonly<Record<string, number>>;
  readonly days: readonly {
    readonly day: string;
    readonly lines: readonly Body[];
    readonly csv: readonly string[];
  }[];
}

export async function readReports(url: string, app: App): Promise<Reported> {
  const { counts } = await look(url, app, 'reconciliation?limit=1');
  const days = (await pages(url, app, 'settlements?limit=100')).map(({ date }) => String(date));
  const read = async (day: string) => ({
    day,
    lines: await pages(url, app, `settlements/${day}?limit=100`),
    csv: (await lookAt(url, app, `settlements/${day}`, 'text/csv')).trimEnd().split('\r\n').slice(1),
  });
  return { counts, days: await Promise.all(days.map(read)) };
}

const RESULTS = ['matched', 'amount_mismatch', 'missing_at_provider', 'missing_in_ledger', 'duplicate'];

export function auditReported(reported: Reported, org: string, { lines }: Expected): readonly string[] {
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

function auditDay({ day, lines, csv }: Reported['days'][number], own: readonly Line[]): readonly string[] {
  const wanted = own.filter((line) => line.day === day && line.gross !== null);
  const known = new Set(wanted.map(({ transaction }) => transaction));
  const named = (transaction: string | null) =>
    transaction !== null && known.has(transaction) ? transaction : 'of no record';
  const line = (...parts: readonly unknown[]) => parts.join(',');
  const expected = wanted.map(({ provider, transaction, currency, gross, fee, at }) => {
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
    const page: Body = await look(
      url,
      app,
      cursor === '' ? path : `${path}&cursor=${encodeURIComponent(cursor)}`,
    );
    data.push(...page.data);
    cursor = page.nextCursor;
  }
  return data;
}
