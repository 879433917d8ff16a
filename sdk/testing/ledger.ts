import type { Sandbank } from '../client.ts';

/** The ledger is not balanced. The message names the difference. */
export class LedgerImbalance extends Error {
  override readonly name = 'LedgerImbalance';
}

const entriesMax = 10_000;

export class TenantLedger {
  readonly #client: Sandbank;

  constructor(client: Sandbank) {
    this.#client = client;
  }

  /**
   * Audits the ledger through the API: every entry sums to zero in each of its currencies,
   * the balances are the sums of the entries, and all balances of a currency sum to zero.
   */
  async assertBalanced(): Promise<void> {
    const [entries, { accounts }] = await Promise.all([
      this.#client.ledger.entries({ limit: 100 }).toArray({ itemsMax: entriesMax }),
      this.#client.ledger.balances(),
    ]);
    const sums = new Map<string, bigint>();
    for (const { id, postings } of entries) {
      const perCurrency = new Map<string, bigint>();
      for (const { account, currency, amount } of postings) {
        add(perCurrency, currency, amount);
        add(sums, `${account} ${currency}`, amount);
      }
      for (const [currency, sum] of perCurrency)
        if (sum !== 0n) throw new LedgerImbalance(`The entry ${id} sums to ${sum} ${currency}, not to zero.`);
    }
    const totals = new Map<string, bigint>();
    for (const { account, currency, balance } of accounts) {
      add(totals, currency, balance);
      const sum = sums.get(`${account} ${currency}`) ?? 0n;
      if (sum !== BigInt(balance))
        throw new LedgerImbalance(`${account} shows ${balance} ${currency}, and its entries sum to ${sum}.`);
    }
    for (const [currency, total] of totals)
      if (total !== 0n)
        throw new LedgerImbalance(`All accounts together hold ${total} ${currency}, not zero.`);
  }
}

function add(sums: Map<string, bigint>, key: string, amount: number | string): void {
  sums.set(key, (sums.get(key) ?? 0n) + BigInt(amount));
}
