import { useLimits } from '../../client/capabilities.ts';
import type { Limits } from '../../client/limits.ts';
import type { Fault, FaultPlan } from '../../generated/shapes.ts';
import { Field, Input, Select } from '../../parts/field.tsx';
import { faultCodes, faultLabels, faultTypes } from './labels.ts';

/** Form state; numbers stay strings while they are typed. */
export interface Draft {
  readonly on: FaultPlan['on'];
  readonly type: Fault['type'];
  readonly delayMs: string;
  readonly code: string;
  readonly copies: string;
  readonly seconds: string;
  readonly count: string;
  readonly share: string;
  readonly seed: string;
  readonly only: string;
}

export const emptyDraft: Draft = {
  on: 'requests',
  type: 'lose_answer',
  delayMs: '2000',
  code: 'service_unavailable',
  copies: '1',
  seconds: '60',
  count: '1',
  share: '',
  seed: '',
  only: '',
};

function faultOf({ type, delayMs, code, copies, seconds }: Draft): object {
  if (type === 'latency') return { type, delayMs: Number(delayMs) };
  if (type === 'error') return { type, code };
  if (type === 'duplicate') return { type, copies: Number(copies) };
  return type === 'delay' ? { type, seconds: Number(seconds) } : { type };
}

export function bodyOf(draft: Draft): object {
  const number = (text: string) => (text.trim() === '' ? undefined : Number(text));
  const only = draft.only.split(/[\s,]+/).filter((name) => name !== '');
  const names = draft.on === 'requests' ? { operations: only } : { eventTypes: only };
  const [count, share, seed] = [number(draft.count), number(draft.share), number(draft.seed)];
  return {
    on: draft.on,
    fault: faultOf(draft),
    ...(count === undefined ? {} : { count }),
    ...(share === undefined ? {} : { share }),
    ...(seed === undefined ? {} : { seed }),
    ...(only.length === 0 ? {} : names),
  };
}

/** Why a text is not a whole number of a range; undefined if it is one. */
function wrongNumber(text: string, minimum: number, maximum: number | undefined): string | undefined {
  const isNumber = /^\d+$/.test(text.trim());
  if (isNumber && Number(text) >= minimum && Number(text) <= (maximum ?? Number(text))) return undefined;
  return `Enter a whole number${maximum === undefined ? '' : ` from ${minimum} to ${maximum.toLocaleString('en')}`}.`;
}

/** What the numbers lack; the server checks the rest. */
export function missingIn(draft: Draft, limits: Limits) {
  const { count, share, seed, type } = draft;
  const { faultDelayMsMax, faultCopiesMax, faultDelaySecondsMax } = limits;
  const optional = (text: string, minimum: number, maximum: number | undefined) =>
    text.trim() === '' ? undefined : wrongNumber(text, minimum, maximum);
  const isOpen = count.trim() === '' && share.trim() === '';
  return {
    count: isOpen ? 'Enter a count or a share.' : optional(count, 1, limits.faultCountMax),
    share: optional(share, 1, limits.faultShareMax),
    seed: optional(seed, 0, limits.faultSeedMax),
    delayMs: type === 'latency' ? wrongNumber(draft.delayMs, 1, faultDelayMsMax) : undefined,
    copies: type === 'duplicate' ? wrongNumber(draft.copies, 1, faultCopiesMax) : undefined,
    seconds: type === 'delay' ? wrongNumber(draft.seconds, 1, faultDelaySecondsMax) : undefined,
  };
}

export interface PlanFieldsProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}

export function PlanFields({ draft, onChange }: PlanFieldsProps) {
  const set = (change: Partial<Draft>) => onChange({ ...draft, ...change });
  const isRequestPlan = draft.on === 'requests';
  const limits = useLimits();
  const missing = missingIn(draft, limits);
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Applies to" param="on">
          <Select
            value={draft.on}
            options={[
              { value: 'requests', label: 'Requests' },
              { value: 'webhooks', label: 'Webhooks' },
            ]}
            onChange={(event) => {
              const on = event.currentTarget.value as FaultPlan['on'];
              set({ on, type: on === 'requests' ? 'lose_answer' : 'duplicate', only: '' });
            }}
          />
        </Field>
        <Field label="Fault type" hint={faultLabels[draft.type].hint} param="fault.type">
          <Select
            value={draft.type}
            options={faultTypes[draft.on].map((type) => ({ value: type, label: faultLabels[type].label }))}
            onChange={(event) => set({ type: event.currentTarget.value as Fault['type'] })}
          />
        </Field>
      </div>
      <FaultParameter draft={draft} set={set} missing={missing} />
      <div className="grid gap-4 sm:grid-cols-3">
        <NumberField
          label="Count"
          hint="Affects the next N"
          param="count"
          missing={missing.count}
          value={draft.count}
          onChange={(count) => set({ count })}
        />
        <NumberField
          label="Share"
          hint="Percentage of matches"
          param="share"
          missing={missing.share}
          value={draft.share}
          onChange={(share) => set({ share })}
        />
        <NumberField
          label="Seed"
          hint="Repeats the same selection"
          param="seed"
          missing={missing.seed}
          value={draft.seed}
          onChange={(seed) => set({ seed })}
        />
      </div>
      <Field
        label={isRequestPlan ? 'Only these operations' : 'Only these events'}
        isOptional
        param={isRequestPlan ? 'operations' : 'eventTypes'}
        hint={
          isRequestPlan
            ? 'For example createPayment, refundPayment'
            : 'For example payment.*, transfer.completed'
        }
      >
        <Input
          isMono
          spellCheck={false}
          autoComplete="off"
          maxLength={1000}
          value={draft.only}
          onChange={(event) => set({ only: event.currentTarget.value })}
        />
      </Field>
    </>
  );
}

/** The parameter of a fault type that has one. */
function FaultParameter({
  draft,
  set,
  missing,
}: {
  readonly draft: Draft;
  readonly set: (change: Partial<Draft>) => void;
  readonly missing: ReturnType<typeof missingIn>;
}) {
  switch (draft.type) {
    case 'latency':
      return (
        <NumberField
          label="Milliseconds"
          param="fault.delayMs"
          missing={missing.delayMs}
          value={draft.delayMs}
          onChange={(delayMs) => set({ delayMs })}
        />
      );
    case 'error':
      return (
        <Field label="Code" param="fault.code">
          <Select
            value={draft.code}
            options={faultCodes}
            onChange={(event) => set({ code: event.currentTarget.value })}
          />
        </Field>
      );
    case 'duplicate':
      return (
        <NumberField
          label="Copies"
          param="fault.copies"
          missing={missing.copies}
          value={draft.copies}
          onChange={(copies) => set({ copies })}
        />
      );
    case 'delay':
      return (
        <NumberField
          label="Seconds"
          param="fault.seconds"
          missing={missing.seconds}
          value={draft.seconds}
          onChange={(seconds) => set({ seconds })}
        />
      );
    default:
      return null;
  }
}

interface NumberFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly missing?: string | undefined;
  readonly param: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

function NumberField({ value, onChange, ...field }: NumberFieldProps) {
  return (
    <Field {...field}>
      <Input
        inputMode="numeric"
        autoComplete="off"
        maxLength={10}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </Field>
  );
}
