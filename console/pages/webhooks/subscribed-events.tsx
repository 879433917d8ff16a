import { classes } from '../../parts/text.ts';

/** An endpoint's event types, abbreviated in one line or as a full list. */
export function SubscribedEvents({
  types,
  isList = false,
}: {
  readonly types: readonly string[];
  readonly isList?: boolean;
}) {
  if (types.includes('*')) return <>All events</>;
  const shown = isList ? types : types.slice(0, 2);
  const left = types.length - shown.length;
  return (
    <span className={classes('font-mono text-[0.75rem]', isList && 'flex flex-wrap gap-x-3 gap-y-1')}>
      {isList ? shown.map((type) => <span key={type}>{type}</span>) : shown.join(', ')}
      {left > 0 ? <span className="font-sans text-muted"> and {left} more</span> : null}
    </span>
  );
}
