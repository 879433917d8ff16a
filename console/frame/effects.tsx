import type { Effect } from '../generated/shapes.ts';
import { Anchor, pageOf } from '../parts/anchor.tsx';
import { sentenceCase } from '../parts/text.ts';
import { Time } from '../parts/time.tsx';

const shownMax = 50;

/** The effects of a clock advance, grouped by type and action; each group expands to its records. */
export function EffectList({
  happened,
  onNavigate,
}: {
  readonly happened: readonly Effect[];
  readonly onNavigate: () => void;
}) {
  const groups = new Map<string, Effect[]>();
  for (const item of happened) {
    const name = `${sentenceCase(item.type)}: ${(item.to ?? item.action).replaceAll('_', ' ')}`;
    const group = groups.get(name);
    if (group) group.push(item);
    else groups.set(name, [item]);
  }
  return (
    <ul className="flex flex-col">
      {[...groups].map(([name, items]) => (
        <li key={name} className="border-t first:border-t-0">
          <details>
            <summary className="flex min-h-8 items-center justify-between gap-2 rounded-sm py-1 hover:text-accent">
              <span>{name}</span>
              <span className="text-muted tabular-nums">{items.length}</span>
            </summary>
            <ul className="pb-2 pl-3 text-sm">
              {items.slice(0, shownMax).map((item) => (
                <Row key={`${item.at} ${item.id} ${item.action}`} item={item} onNavigate={onNavigate} />
              ))}
              {items.length > shownMax ? (
                <li className="text-muted">and {items.length - shownMax} more</li>
              ) : null}
            </ul>
          </details>
        </li>
      ))}
    </ul>
  );
}

function Row({ item, onNavigate }: { readonly item: Effect; readonly onNavigate: () => void }) {
  const page = pageOf(item.id);
  const short = `${item.id.slice(0, 8)}…${item.id.slice(-6)}`;
  return (
    <li className="flex items-center justify-between gap-3">
      {page === undefined ? (
        <span className="font-mono text-xs">{short}</span>
      ) : (
        <Anchor
          to={page}
          onClick={onNavigate}
          className="inline-flex min-h-6 items-center font-mono text-xs text-accent hover:underline"
        >
          {short}
        </Anchor>
      )}
      <span className="text-xs text-muted">
        <Time at={item.at} />
      </span>
    </li>
  );
}
