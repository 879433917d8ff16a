import type { ReactNode } from 'react';
import { amountText } from '../../client/amount.ts';
import { type List, useRead } from '../../client/queries.ts';
import type { FxRate, TransferPreview } from '../../generated/shapes.ts';
import { percentText } from '../applications/percent.ts';
import { type Draft, minorAmount } from './draft.ts';

const everyMs = 30_000;

/** The rate of the currency pair, and the amounts of the quote that the server would give now. Rates may change until the quote. */
export function QuotePreview({ draft }: { readonly draft: Draft }) {
  return (
    <div aria-live="polite" className="rounded-md bg-sunken px-3 py-2 text-sm text-muted">
      <Amounts draft={draft} />
      <IndicativeRate source={draft.source} target={draft.target} />
    </div>
  );
}

function Amounts({ draft }: { readonly draft: Draft }) {
  const { source, target, side } = draft;
  const amount = minorAmount(draft);
  const { data, problem } = useRead<TransferPreview>(
    'app/transfer_preview',
    { sourceCurrency: source, targetCurrency: target, fixedSide: side, amount },
    { everyMs, isEnabled: amount !== undefined },
  );
  if (amount === undefined) return <p>Enter an amount to see what you pay and what they receive.</p>;
  if (data === undefined) return <p>{problem?.message ?? 'Calculating…'}</p>;
  return (
    <p>
      You pay <Strong>{amountText(data.totalAmount, source)}</Strong>, they receive{' '}
      <Strong>{amountText(data.targetAmount, target)}</Strong>. The fee of{' '}
      {amountText(data.feeAmount, source)} is included.
    </p>
  );
}

function IndicativeRate({ source, target }: { readonly source: string; readonly target: string }) {
  const { data, problem } = useRead<List<FxRate>>(
    'app/developer_api_fx_rates',
    { sourceCurrency: source, targetCurrency: target },
    { everyMs, isEnabled: source !== target },
  );
  const rate = data?.data.find((one) => one.sourceCurrency === source && one.targetCurrency === target);
  if (source === target) return <p>Same currency: the rate is 1.</p>;
  if (rate === undefined) return <p>{problem?.message ?? 'Loading the rate…'}</p>;
  return (
    <p>
      Indicative rate:{' '}
      <Strong>
        1 {source} = {rate.rate} {target}
      </Strong>
      {rate.marginBasisPoints > 0
        ? `, mid-market ${rate.midMarketRate} less ${percentText(rate.marginBasisPoints)} % margin`
        : ''}
      {rate.isOverridden ? '. This is a custom rate of the application.' : '.'}
    </p>
  );
}

function Strong({ children }: { readonly children: ReactNode }) {
  return <span className="font-medium text-ink tabular-nums">{children}</span>;
}
