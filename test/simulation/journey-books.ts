/** The books of a journey, added up from the postings alone, and where the money of each transfer must be. */
import type { Body } from './journey-client.ts';
import { differences } from './journey-reports.ts';
import { grouped, type Rows } from './journey-rows.ts';

export function auditBooks(rows: Rows): readonly string[] {
  return [...auditEntries(rows), ...auditBalances(rows), ...auditTransfers(rows)];
}

/** An entry sums to zero in each currency, and belongs to the move that it was posted with. */
function auditEntries({ entries, moves }: Rows): readonly string[] {
  const findings: string[] = [];
  const known = new Set(moves.map(({ id, version, request }) => `${id} ${version} ${request}`));
  for (const { id, record, version, request, postings } of entries) {
    for (const [currency, own] of grouped(postings, (posting) => posting.currency)) {
      const sum = own.reduce((total, { amount }) => total + amount, 0);
      if (sum !== 0) findings.push(`${id}: its postings in ${currency} sum to ${sum}`);
    }
    if (!known.has(`${record} ${version} ${request}`)) findings.push(`${id}: ${record} made no such move`);
  }
  return findings;
}

function auditBalances({ entries, balances }: Rows): readonly string[] {
  const sums = new Map<string, number>();
  for (const { org, postings } of entries) {
    for (const { account, currency, amount } of postings) {
      const key = `${org} ${account} ${currency}`;
      sums.set(key, (sums.get(key) ?? 0) + amount);
    }
  }
  const posted = [...sums].map(([key, sum]) => `${key} ${sum}`);
  const kept = balances.map(
    ({ org, account, currency, balance }) => `${org} ${account} ${currency} ${balance}`,
  );
  const trials = [...grouped(balances, ({ org, currency }) => `${org} ${currency}`)].flatMap(([key, own]) => {
    const sum = own.reduce((total, { balance }) => total + balance, 0);
    return sum === 0 ? [] : [`the trial balance of ${key} is ${sum}`];
  });
  return [...differences('the balances', kept, posted), ...trials];
}

/** A transfer that is over has left nothing behind; one under way has its money in one place of each currency. */
function auditTransfers({ entries, records, events }: Rows): readonly string[] {
  const shown = new Map<string, Body>();
  for (const { record, sequence, data } of events)
    if (sequence > (shown.get(record)?.version ?? 0)) shown.set(record, data);
  const posted = grouped(entries, ({ record }) => record);
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
      for (const [account, currency, amount] of placesOf(shown.get(id) ?? {})) add(account, currency, amount);
      return differences(`the money of ${id}`, found, lines(sums));
    });
}

function lines(sums: ReadonlyMap<string, number>): readonly string[] {
  return [...sums].filter(([, sum]) => sum !== 0).map(([key, sum]) => `${key} ${sum}`);
}

type Share = readonly [account: string, currency: string, amount: number];

function placesOf(transfer: Body): readonly Share[] {
  const { status, fundFrom, sourceCurrency: source, targetCurrency: target } = transfer;
  const { sourceAmount, targetAmount, feeAmount, totalAmount } = transfer;
  const payer: Share = [fundFrom === 'balance' ? 'merchant_available' : 'bank', source, totalAmount];
  const converted: readonly Share[] = [
    payer,
    ['fx_position', source, -sourceAmount],
    ['fees', source, -feeAmount],
    ['fx_position', target, targetAmount],
  ];
  const way = {
    converted: 'payout_clearing',
    returned: 'payout_clearing',
    sent: 'payouts_in_transit',
    completed: 'bank',
  }[status as string];
  if (way !== undefined) return [...converted, [way, target, -targetAmount]];
  if (status === 'funded' || status === 'in_review')
    return [payer, ['transfer_funding', source, -totalAmount]];
  return [];
}
