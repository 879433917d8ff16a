import type { ReactNode } from 'react';
import type { Failure, Metadata } from '../../client/shapes.ts';
import { Card } from '../../parts/card.tsx';
import { KeyValue } from '../../parts/key-value.tsx';
import { Time } from '../../parts/time.tsx';

type Items = readonly (readonly [name: string, value: ReactNode])[];

/** A card with name-value pairs; empty values are omitted. */
export function FactsCard({ title, items }: { readonly title: string; readonly items: Items }) {
  const known = items.filter(([, value]) => value !== null && value !== undefined && value !== '');
  if (known.length === 0) return null;
  return (
    <Card title={title}>
      <KeyValue items={known} isNarrow />
    </Card>
  );
}

/** Times in the given order; missing ones are omitted. */
export function instants(pairs: readonly (readonly [string, string | null | undefined])[]): Items {
  return pairs
    .filter(([, at]) => at !== null && at !== undefined)
    .map(([name, at]) => [name, <Time key={name} at={at} show="absolute" />] as const);
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
  return (
    <Card title={title}>
      {items.length === 0 ? (
        <p className="text-muted">None. Use it for your own ids and notes.</p>
      ) : (
        <KeyValue items={items} isNarrow />
      )}
    </Card>
  );
}

/** Why the record failed. */
export function FailureNote({ failure }: { readonly failure: Failure | null }) {
  if (failure === null) return null;
  return (
    <p className="mb-5 rounded-md bg-bad-soft px-3.5 py-2.5 text-bad">
      <span className="font-medium">{failure.message}</span>{' '}
      <span className="font-mono text-xs">{failure.code}</span>
      {failure.retryable ? ' It can be retried.' : ''}
    </p>
  );
}

/** 'approve', or 'decline:expired_card, then approve' for successive attempts. */
export function scenarioText(scenario: string | readonly string[]): string {
  return typeof scenario === 'string' ? scenario : scenario.join(', then ');
}
