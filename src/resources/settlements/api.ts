import { type Static, Type } from 'typebox';
import { AnyAmount, exact } from '../../kernel/currency.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { limits } from '../../kernel/limits.ts';
import { dayOf, decodeCursor, encodeCursor, instantToText } from '../../kernel/list.ts';
import type { ReadRequest, Route, TextAnswer } from '../../kernel/route.ts';
import { Day, id, list, pageQuery, resource, strict, Time } from '../../kernel/schema.ts';
import { clockNow } from '../../kernel/time.ts';
import { findClock } from '../clocks/store.ts';
import { type DayTotalRow, findDays, findLines, findTotals } from './store.ts';
import type { SettlementLineRow } from './table.ts';

const dayPattern = /^\d{4}-\d{2}-\d{2}$/;
/** Sorts after every valid day. */
const lastDay = '9999-99-99';
const csvPage = 1_000;
const noReport = refuse('resource_not_found', {
  message: 'There is no report for this day. See developer_api_settlements for the days that have one.',
});

const Query = strict(pageQuery);
const states = ['open', 'closed'] as const;

const TotalSchema = Type.Object({
  currency: Type.String(),
  lines: Type.Integer(),
  gross: AnyAmount,
  fee: AnyAmount,
  net: AnyAmount,
});

const shown = {
  id: Day,
  date: Day,
  lines: Type.Integer({ description: 'The number of lines in the report.' }),
  totals: Type.Array(TotalSchema),
} as const;

const SettlementSchema = resource('settlement', states, shown);

const LineSchema = resource('settlement_line', ['reported'], {
  id: id('settlement_line'),
  date: Day,
  provider: Type.String(),
  providerTransactionId: Type.String(),
  currency: Type.String(),
  gross: Type.Integer({ description: 'The amount paid out; negative for a payout to a beneficiary.' }),
  fee: Type.Integer(),
  net: Type.Integer({ description: 'Gross less fee.' }),
  settledAt: Time,
});

const ReportSchema = resource('settlement', states, {
  ...shown,
  data: Type.Array(LineSchema),
  hasMore: Type.Boolean(),
  nextCursor: Type.Union([Type.String(), Type.Null()]),
});

function presentDay(date: string, totals: readonly DayTotalRow[], today: string): Presented {
  const own = totals.filter(({ settledOn }) => settledOn === date);
  return {
    object: 'settlement',
    sandbox: true,
    // Lines may be added until the day is over by the application clock.
    status: date < today ? 'closed' : 'open',
    id: date,
    date,
    lines: own.reduce((sum, { lines }) => sum + lines, 0),
    totals: own.map(({ currency, lines, gross, fee }) => ({
      currency,
      lines,
      gross: exact(gross),
      fee: exact(fee),
      net: exact(gross - fee),
    })),
  };
}

function presentLine(row: SettlementLineRow): Presented {
  const { gross, fee } = amountsOf(row);
  return {
    object: 'settlement_line',
    sandbox: true,
    status: 'reported',
    id: row.id,
    date: row.settledOn,
    provider: row.provider,
    providerTransactionId: row.providerTransactionId,
    currency: row.currency,
    gross: Number(gross),
    fee: Number(fee),
    net: Number(gross - fee),
    settledAt: instantToText(row.createdAt),
  };
}

function amountsOf({ id: lineId, gross, fee }: SettlementLineRow): { gross: bigint; fee: bigint } {
  if (gross === null || fee === null) throw new Error(`${lineId} is not part of a report`);
  return { gross, fee };
}

async function today({ reader, principal, now }: ReadRequest): Promise<string> {
  return dayOf(clockNow(await findClock(reader, principal, now), now));
}

function decodeDay(cursor: string): string | undefined {
  const day = Buffer.from(cursor, 'base64url').toString('latin1');
  return dayPattern.test(day) && encodeCursor(day) === cursor ? day : undefined;
}

async function listDays(
  request: ReadRequest,
): Promise<Refusal | { data: Presented[]; hasMore: boolean; nextCursor: string | null }> {
  const { reader, principal, query } = request;
  const { limit = limits.listLimitDefault, cursor } = query as Static<typeof Query>;
  const before = cursor === undefined ? lastDay : decodeDay(cursor);
  if (before === undefined) return refuse('invalid_cursor', { param: 'cursor' });
  const found = await findDays(reader, principal.orgId, before, limit + 1);
  const days = found.slice(0, limit);
  const [newest, oldest] = [days[0], days.at(-1)];
  if (newest === undefined || oldest === undefined) return { data: [], hasMore: false, nextCursor: null };
  const hasMore = found.length > limit;
  const [totals, day] = await Promise.all([
    findTotals(reader, principal.orgId, oldest, newest),
    today(request),
  ]);
  return {
    data: days.map((date) => presentDay(date, totals, day)),
    hasMore,
    nextCursor: hasMore ? encodeCursor(oldest) : null,
  };
}

async function readReport(request: ReadRequest): Promise<Presented | TextAnswer | Refusal> {
  const { reader, principal, params, query, accepts } = request;
  const date = params.date ?? '';
  if (!dayPattern.test(date)) return noReport;
  const { limit, cursor } = query as Static<typeof Query>;
  const after = cursor === undefined ? '' : decodeCursor('settlement_line', cursor);
  if (after === undefined) return refuse('invalid_cursor', { param: 'cursor' });
  const totals = await findTotals(reader, principal.orgId, date, date);
  if (totals.length === 0) return noReport;
  if (accepts('text/csv')) return readCsv(request, date, after, limit ?? limits.csvLinesMax);
  const pageSize = limit ?? limits.listLimitDefault;
  const rows = await findLines(reader, principal.orgId, date, after, pageSize + 1);
  const lines = rows.slice(0, pageSize);
  return {
    ...presentDay(date, totals, await today(request)),
    data: lines.map(presentLine),
    hasMore: rows.length > pageSize,
    nextCursor: cursorAfter(lines, rows.length > pageSize),
  };
}

function cursorAfter(lines: readonly SettlementLineRow[], hasMore: boolean): string | null {
  const last = lines.at(-1);
  return hasMore && last ? encodeCursor(last.id) : null;
}

const csvHead = 'date,provider,provider_transaction_id,currency,gross,fee,net,settled_at';

/** The report as one file of at most `linesMax` lines. If there are more, the header `Next-Cursor` has the cursor to continue. */
async function readCsv(
  { reader, principal: { orgId } }: ReadRequest,
  date: string,
  after: string,
  linesMax: number,
): Promise<TextAnswer> {
  const lines = [csvHead];
  let last = after;
  while (lines.length <= linesMax) {
    const page = Math.min(csvPage, linesMax - lines.length + 1);
    const rows = await findLines(reader, orgId, date, last, page);
    for (const row of rows) {
      const { gross, fee } = amountsOf(row);
      // No field needs quoting: all are digits and codes that Sandbank generates, without commas, quotes or line breaks.
      lines.push(
        [
          row.settledOn,
          row.provider,
          row.providerTransactionId,
          row.currency,
          gross,
          fee,
          gross - fee,
          instantToText(row.createdAt),
        ].join(','),
      );
    }
    last = rows.at(-1)?.id ?? last;
    if (rows.length < page) break;
  }
  const [more] = lines.length > linesMax ? await findLines(reader, orgId, date, last, 1) : [];
  return {
    contentType: 'text/csv',
    text: `${lines.join('\r\n')}\r\n`,
    headers: {
      'Content-Disposition': `attachment; filename="settlement-${date}.csv"`,
      ...(more ? { 'Next-Cursor': encodeCursor(last) } : {}),
    },
  };
}

const meta = { method: 'GET', scope: 'payments:read', tag: 'Settlement', query: Query } as const;

export const settlementRoutes: readonly Route[] = [
  {
    ...meta,
    operationId: 'listSettlements',
    path: 'developer_api_settlements',
    summary: "List the days of the providers' settlement reports, newest first, with totals",
    response: list(SettlementSchema),
    responseName: 'SettlementList',
    read: listDays,
  },
  {
    ...meta,
    operationId: 'retrieveSettlement',
    path: 'developer_api_settlements/{date}',
    summary: 'The settlement report of a day, as JSON or, with `Accept: text/csv`, as CSV',
    response: ReportSchema,
    responseName: 'SettlementReport',
    alternateContentType: 'text/csv',
    read: readReport,
  },
];
