import { type Static, Type } from 'typebox';
import type { ApplicationSettings } from '../../kernel/application-settings.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { refuse } from '../../kernel/errors.ts';
import { limits } from '../../kernel/limits.ts';
import type { ReadAnswer, Route } from '../../kernel/route.ts';
import { CurrencyCode, list, resource, strict } from '../../kernel/schema.ts';
import { type FxRate, fxRateOf, fxRatesFrom } from '../../ledger/fx-rates.ts';

const RatesQuery = strict({
  sourceCurrency: Type.Optional(Type.String({ ...CurrencyCode, default: 'USD' })),
  targetCurrency: Type.Optional(CurrencyCode),
});

const Rate = Type.String({
  pattern: '^\\d+(\\.\\d{1,12})?$',
  description: 'Decimal number as text, such as 1.0825.',
});

const FxRateSchema = resource('fx_rate', ['ok'], {
  id: Type.String({ description: 'The pair, e.g. `EUR/USD`.' }),
  sourceCurrency: Type.String(),
  targetCurrency: Type.String(),
  rate: Rate,
  inverseRate: Rate,
  midMarketRate: Rate,
  marginBasisPoints: Type.Integer({ minimum: 0, maximum: limits.fxMarginMax }),
  isOverridden: Type.Boolean({ description: 'Whether the application has set the mid-market rate itself.' }),
});

function presentRate(fxRate: FxRate): Presented {
  const { sourceCurrency, targetCurrency, rate, inverseRate, midMarketRate } = fxRate;
  return {
    object: 'fx_rate',
    sandbox: true,
    status: 'ok',
    id: `${sourceCurrency}/${targetCurrency}`,
    sourceCurrency,
    targetCurrency,
    rate,
    inverseRate,
    midMarketRate,
    marginBasisPoints: fxRate.marginBasisPoints,
    isOverridden: fxRate.isOverridden,
  };
}

function readRates(query: Static<typeof RatesQuery>, settings: ApplicationSettings): ReadAnswer {
  const source = (query.sourceCurrency ?? 'USD').toUpperCase();
  const target = query.targetCurrency?.toUpperCase();
  const all = fxRatesFrom(source, settings);
  if (all.length === 0) {
    return refuse('invalid_request', {
      message: `There are no rates from sourceCurrency ${source}. Omit it for the rates from USD.`,
      param: 'sourceCurrency',
    });
  }
  const requested = target === undefined ? undefined : fxRateOf(source, target, settings);
  if (target !== undefined && !requested) {
    return refuse('invalid_request', {
      message: `There is no rate from ${source} to targetCurrency ${target}. Omit it to list all rates.`,
      param: 'targetCurrency',
    });
  }
  return { data: (requested ? [requested] : all).map(presentRate), hasMore: false, nextCursor: null };
}

export const fxRateRoutes: readonly Route[] = [
  {
    operationId: 'listFxRates',
    method: 'GET',
    path: 'developer_api_fx_rates',
    scope: 'transfers:read',
    tag: 'Transfers',
    summary: 'List the current exchange rates of a currency, with the margin and the mid-market rates',
    query: RatesQuery,
    response: list(FxRateSchema),
    responseName: 'FxRateList',
    read: ({ query, principal }) => readRates(query as Static<typeof RatesQuery>, principal.settings),
  },
];
