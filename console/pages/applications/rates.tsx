import { Plus, Trash2 } from 'lucide-react';
import { useId } from 'react';
import { useCurrencies } from '../../client/capabilities.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Field, FieldProblem, Input } from '../../parts/field.tsx';
import type { RateError, RateRow } from './draft.ts';
import type { SectionProps } from './section.ts';

/** FX margin and custom rates. */
export function FxSection({ draft, errors, onChange }: SectionProps) {
  const list = useId();
  const currencies = useCurrencies();
  const change = (row: number, part: Partial<RateRow>) =>
    onChange({ rates: draft.rates.map((one) => (one.row === row ? { ...one, ...part } : one)) });
  const add = () => {
    const row = Math.max(-1, ...draft.rates.map((one) => one.row)) + 1;
    onChange({ rates: [...draft.rates, { row, source: '', target: '', rate: '' }] });
  };
  return (
    <Card title="Exchange" description="How transfers between currencies are converted.">
      <Field
        label="Margin in percent"
        hint="Margin on the mid-market rate."
        error={errors.margin}
        param="fx.marginBasisPoints"
        className="max-w-md"
      >
        <Input
          isMono
          inputMode="decimal"
          autoComplete="off"
          value={draft.margin}
          onChange={(event) => onChange({ margin: event.currentTarget.value })}
        />
      </Field>
      <section className="mt-5">
        <h3 className="text-sm font-medium">Custom rates</h3>
        <p className="text-sm text-muted">
          They replace the mid-market rate; other pairs use the built-in rates. A pair also applies to the
          opposite direction.
        </p>
        {draft.rates.length === 0 ? null : (
          <ul className="mt-3 flex max-w-xl flex-col gap-2">
            {draft.rates.map((one) => (
              <RateItem
                key={one.row}
                rate={one}
                list={list}
                error={errors.rateRows?.get(one.row)}
                onChange={(part) => change(one.row, part)}
                onRemove={() => onChange({ rates: draft.rates.filter(({ row }) => row !== one.row) })}
              />
            ))}
          </ul>
        )}
        <FieldProblem param="fx.rates" label="Custom rates" />
        <Button size="small" className="mt-3" icon={<Plus aria-hidden size={14} />} onClick={add}>
          Add rate
        </Button>
        <datalist id={list}>
          {currencies.map(({ code }) => (
            <option key={code} value={code} />
          ))}
        </datalist>
      </section>
    </Card>
  );
}

interface RateItemProps {
  readonly rate: RateRow;
  /** The id of the currency datalist. */
  readonly list: string;
  readonly error: RateError | undefined;
  readonly onChange: (part: Partial<RateRow>) => void;
  readonly onRemove: () => void;
}

function RateItem({ rate: { source, target, rate }, list, error, onChange, onRemove }: RateItemProps) {
  const id = useId();
  const pairLabel = source === '' && target === '' ? 'new rate' : `${source}/${target}`;
  const shared = {
    isMono: true,
    autoComplete: 'off',
    spellCheck: false,
  } as const;
  const invalidIn = (field: RateError['field']) =>
    error?.field === field ? { 'aria-invalid': true, 'aria-describedby': id } : {};
  const currency = {
    ...shared,
    ...invalidIn('pair'),
    list,
    maxLength: 3,
    placeholder: 'EUR',
    className: 'uppercase',
  };
  return (
    <li>
      <div className="flex items-center gap-2">
        <span className="text-sm text-muted">1</span>
        <div className="w-20 shrink-0">
          <Input
            {...currency}
            aria-label={`Source currency of ${pairLabel}`}
            value={source}
            onChange={(event) => onChange({ source: event.currentTarget.value.toUpperCase() })}
          />
        </div>
        <span className="text-sm text-muted">=</span>
        <Input
          {...shared}
          {...invalidIn('rate')}
          inputMode="decimal"
          placeholder="1.0842"
          aria-label={`Rate of ${pairLabel}`}
          value={rate}
          onChange={(event) => onChange({ rate: event.currentTarget.value })}
        />
        <div className="w-20 shrink-0">
          <Input
            {...currency}
            placeholder="USD"
            aria-label={`Target currency of ${pairLabel}`}
            value={target}
            onChange={(event) => onChange({ target: event.currentTarget.value.toUpperCase() })}
          />
        </div>
        <IconButton
          label={`Remove ${pairLabel}`}
          icon={<Trash2 aria-hidden size={15} />}
          onClick={onRemove}
        />
      </div>
      {error === undefined ? null : (
        <p id={id} className="mt-0.5 text-sm text-bad">
          {error.message}
        </p>
      )}
    </li>
  );
}
