import type { ReactNode } from 'react';
import type { Metadata, PaymentFailure, TransferFailure } from '../../generated/shapes.ts';
import { Card } from '../../parts/card.tsx';
import { KeyValue } from '../../parts/key-value.tsx';
import { Time } from '../../parts/time.tsx';

type Items = readonly (readonly [name: string, value: ReactNode])[];

/** A card with name-value pairs; empty values are omitted. */
export function FactsCard({ title, items }: { readonly title: string; readonly items: Items }) {
  const known = items.filter(([, value]) => value !== null && value !== undefined && value !== '');
  if (known.length === 0) return null;
  return (
    <Card title={title} isCompact>
      <KeyValue items={known} isNarrow />
    </Card>
  );
}

/** Times in the given order; missing ones are omitted. */
export function instants(pairs: readonly (readonly [string, string | null | undefined])[]): Items {
  return pairs
    .filter(([, at]) => at !== null && at !== undefined)
    .map(([name, at]) => [name, <Time key={name} at={at} />] as const);
}

/** An empty section as one line. */
export function NoneLine({ title, action }: { readonly title: string; readonly action?: ReactNode }) {
  return (
    <div className="flex items-center justify-between gap-3 px-4 text-sm text-muted">
      <span>{title}</span>
      <span className="flex items-center gap-2">
        None
        {action}
      </span>
    </div>
  );
}

/** User-provided metadata, always rendered as text. */
export function MetadataCard({
  metadata,
  title = 'Metadata',
}: {
  readonly metadata: Metadata;
  readonly title?: string;
}) {
  const items = Object.entries(metadata);
  if (items.length === 0) return <NoneLine title={title} />;
  return (
    <Card title={title} isCompact>
      <KeyValue items={items} isNarrow />
    </Card>
  );
}

const noticeTones = {
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  quiet: 'bg-quiet-soft text-muted',
};

/** A line above the record's content. */
export function Notice({
  tone,
  children,
}: {
  readonly tone: keyof typeof noticeTones;
  readonly children: ReactNode;
}) {
  return <p className={`mb-5 rounded-md px-3.5 py-2 ${noticeTones[tone]}`}>{children}</p>;
}

/** Why the record failed. */
export function FailureNote({ failure }: { readonly failure: PaymentFailure | TransferFailure | null }) {
  if (failure === null) return null;
  return (
    <Notice tone="bad">
      <span className="font-medium">{failure.message}</span>{' '}
      <span className="font-mono text-xs">{failure.code}</span>
      {failure.retryable ? ' It can be retried.' : ''}
    </Notice>
  );
}

/** 'approve', or 'decline:expired_card, then approve' for successive attempts. */
export function scenarioText(scenario: string | readonly string[]): string {
  return typeof scenario === 'string' ? scenario : scenario.join(', then ');
}
