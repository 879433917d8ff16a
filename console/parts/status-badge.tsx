import { sentenceCase } from './text.ts';

export type Tone = 'good' | 'bad' | 'warn' | 'note' | 'quiet';

/** One color map for the states of all records; the label is always shown, so color is never the only signal. */
const tones: Readonly<Record<string, Tone>> = {
  pending: 'note',
  requires_action: 'warn',
  processing: 'note',
  authorized: 'note',
  partially_captured: 'note',
  captured: 'good',
  settled: 'good',
  partially_refunded: 'quiet',
  refunded: 'quiet',
  disputed: 'warn',
  charged_back: 'bad',
  failed: 'bad',
  canceled: 'quiet',
  expired: 'quiet',
  quoted: 'note',
  accepted: 'note',
  funded: 'note',
  in_review: 'warn',
  converted: 'note',
  sent: 'note',
  completed: 'good',
  returned: 'bad',
  succeeded: 'good',
  passed: 'good',
  warned: 'warn',
  needs_response: 'warn',
  under_review: 'note',
  won: 'good',
  lost: 'bad',
  active: 'good',
  archived: 'quiet',
  enabled: 'good',
  disabled: 'bad',
  revoked: 'bad',
  running: 'good',
  frozen: 'note',
  open: 'note',
  closed: 'quiet',
  posted: 'quiet',
  reported: 'quiet',
  matched: 'good',
  amount_mismatch: 'bad',
  missing_at_provider: 'warn',
  missing_in_ledger: 'warn',
  duplicate: 'warn',
  exhausted: 'quiet',
  applied: 'good',
  ignored: 'quiet',
  refused: 'bad',
  intact: 'good',
  broken: 'bad',
  held: 'warn',
  owner: 'note',
  admin: 'note',
  developer: 'quiet',
  viewer: 'quiet',
  ok: 'good',
};

const toneClasses: Readonly<Record<Tone, string>> = {
  good: 'bg-good-soft text-good',
  bad: 'bg-bad-soft text-bad',
  warn: 'bg-warn-soft text-warn',
  note: 'bg-note-soft text-note',
  quiet: 'bg-quiet-soft text-muted',
};

export function toneOf(status: string): Tone {
  return tones[status] ?? 'quiet';
}

/** `<StatusBadge status={payment.status} />`; `tone` and `label` for values that are not states, such as an HTTP status. */
export function StatusBadge({
  status,
  tone,
  label,
}: {
  readonly status: string;
  readonly tone?: Tone;
  readonly label?: string;
}) {
  const chosen = tone ?? toneOf(status);
  return (
    <span
      className={`inline-flex h-5 items-center gap-1.5 rounded-sm px-1.5 text-xs font-medium whitespace-nowrap ${toneClasses[chosen]}`}
    >
      {label ?? sentenceCase(status)}
    </span>
  );
}

/** An HTTP status: 2xx good, 4xx warning, 5xx bad; null without a response, and 0 if a fault plan suppressed it. */
export function HttpStatus({ status }: { readonly status: number | null }) {
  if (status === null || status === 0) return <StatusBadge status="none" tone="bad" label="No response" />;
  const tone: Tone = status < 300 ? 'good' : status < 400 ? 'note' : status < 500 ? 'warn' : 'bad';
  return <StatusBadge status="http" tone={tone} label={String(status)} />;
}
