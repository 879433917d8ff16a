import { type List, useRead } from '../../client/queries.ts';
import type { FxRate } from '../../generated/shapes.ts';

/** The current rate of a currency pair. It is indicative: the quote uses the rate at its creation and rounds. */
export function IndicativeRate({ source, target }: { readonly source: string; readonly target: string }) {
  const { data, problem } = useRead<List<FxRate>>(
    'app/developer_api_fx_rates',
    { sourceCurrency: source, targetCurrency: target },
    { everyMs: 30_000, isEnabled: source !== target },
  );
  const rate = data?.data.find((one) => one.sourceCurrency === source && one.targetCurrency === target);
  return (
    <p aria-live="polite" className="rounded-md bg-sunken px-3 py-2 text-sm text-muted">
      {source === target ? (
        'Same currency: the rate is 1.'
      ) : rate === undefined ? (
        (problem?.message ?? 'Loading the rate…')
      ) : (
        <>
          Indicative rate:{' '}
          <span className="font-medium text-ink tabular-nums">
            1 {source} = {rate.rate} {target}
          </span>
          {rate.marginBasisPoints > 0
            ? `, mid-market ${rate.midMarketRate} less ${percent(rate.marginBasisPoints)} margin`
            : ''}
          {rate.isOverridden ? '. This is a custom rate of the application.' : '.'}
        </>
      )}
    </p>
  );
}

/** 50 basis points -> '0.5 %', computed on strings. */
function percent(basisPoints: number): string {
  const text = String(basisPoints).padStart(3, '0');
  const fraction = text.slice(-2).replace(/0+$/, '');
  return `${text.slice(0, -2)}${fraction === '' ? '' : `.${fraction}`} %`;
}
