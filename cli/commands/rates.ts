import type { Command } from 'commander';
import { declare } from '../declare.ts';
import { showPage, withoutUndefined } from '../paging.ts';
import { currency } from '../reading.ts';

interface RatesOptions {
  readonly from?: string;
  readonly to?: string;
}

export function addRates(program: Command): void {
  declare<RatesOptions>(program, 'rates', {
    summary: 'Show the current FX rates of a currency',
    options: [
      ['--from <code>', 'source currency (USD)', currency],
      ['--to <code>', 'only into this currency', currency],
    ],
    examples: [['rates --from EUR'], ['rates --from EUR --to JPY --json']],
    run: async (session, { from, to }) => {
      const query = withoutUndefined({ sourceCurrency: from, targetCurrency: to });
      const pages = (await session.sandbank()).fxRates.list(query);
      await showPage(session.out, pages, ['PAIR', 'RATE', 'MID-MARKET', 'MARGIN'], (one) => [
        one.id,
        one.rate,
        one.midMarketRate,
        `${one.marginBasisPoints} bp`,
      ]);
      return undefined;
    },
  });
}
