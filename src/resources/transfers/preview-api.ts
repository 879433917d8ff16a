import { type Static, Type } from 'typebox';
import type { ConsoleRoute } from '../../kernel/route.ts';
import { AmountShown, CurrencyCode, resource, strict } from '../../kernel/schema.ts';
import { quotedAmounts, shownQuote } from './machine.ts';

const PreviewQuery = strict({
  sourceCurrency: CurrencyCode,
  targetCurrency: CurrencyCode,
  fixedSide: Type.Enum(['source', 'target']),
  amount: Type.String({ pattern: '^[1-9]\\d{0,11}$', description: 'Minor units of the fixed side.' }),
});

const PreviewSchema = resource('transfer_preview', ['ok'], {
  sourceAmount: AmountShown,
  feeAmount: AmountShown,
  totalAmount: AmountShown,
  targetAmount: AmountShown,
});

/** For the form: the amounts of the quote that a transfer would have now. */
export const transferPreviewRoutes: readonly ConsoleRoute[] = [
  {
    operationId: 'previewTransfer',
    method: 'GET',
    path: 'transfer_preview',
    role: 'viewer',
    level: 'application',
    summary: 'Preview the amounts of a transfer',
    query: PreviewQuery,
    response: PreviewSchema,
    responseName: 'TransferPreview',
    read: ({ query, principal }) => {
      const { sourceCurrency, targetCurrency, fixedSide, amount } = query as Static<typeof PreviewQuery>;
      const pair = {
        sourceCurrency: sourceCurrency.toUpperCase(),
        targetCurrency: targetCurrency.toUpperCase(),
      };
      const quoted = quotedAmounts({ ...pair, fixedSide, amount: BigInt(amount) }, principal.settings);
      if (!quoted.ok) return quoted;
      const { sourceAmount, feeAmount, targetAmount } = quoted;
      return {
        object: 'transfer_preview',
        sandbox: true,
        status: 'ok',
        sourceAmount: Number(sourceAmount),
        feeAmount: Number(feeAmount),
        totalAmount: Number(shownQuote(quoted).totalAmount),
        targetAmount: Number(targetAmount),
      };
    },
  },
];
