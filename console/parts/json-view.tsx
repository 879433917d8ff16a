import { ChevronRight } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { IdLink, pageOf } from './anchor.tsx';
import { CodeBlock } from './code-block.tsx';
import { CopyButton } from './copy-button.tsx';
import { classes } from './text.ts';

export interface JsonViewProps {
  /** A value, or a text that may be JSON. */
  readonly value: unknown;
  readonly title?: string;
}

type Mode = 'pretty' | 'raw';

// Larger collections are shown in steps, so that a body of megabytes does not freeze the page.
const membersShownMax = 100;
const openDepth = 3;

/** JSON with colors, folding and linked ids; Raw shows the text as it was sent. A text that is not JSON is shown as it is. */
export function JsonView({ value, title = 'JSON' }: JsonViewProps) {
  const [mode, setMode] = useState<Mode>('pretty');
  const parsed = typeof value === 'string' ? parse(value) : { value };
  const raw = typeof value === 'string' ? value : JSON.stringify(value);
  if (parsed === undefined) return <CodeBlock code={raw} title={title} what="text" />;
  const pretty = JSON.stringify(parsed.value, null, 2) ?? '';
  return (
    <figure className="min-w-0 overflow-hidden rounded-md border bg-sunken">
      <figcaption className="flex min-h-8 items-center gap-3 border-b px-3 text-xs text-muted">
        <span className="min-w-0 flex-1 truncate">{title}</span>
        <fieldset className="flex gap-0.5">
          <legend className="sr-only">Format</legend>
          {(['pretty', 'raw'] as const).map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={mode === one}
              onClick={() => setMode(one)}
              className={classes(
                'h-6 rounded-sm px-1.5',
                mode === one ? 'bg-surface font-medium text-ink' : 'hover:text-ink',
              )}
            >
              {one === 'pretty' ? 'Pretty' : 'Raw'}
            </button>
          ))}
        </fieldset>
        <CopyButton text={mode === 'raw' ? raw : pretty} what="JSON" />
      </figcaption>
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        tabIndex={0}
        aria-label={title}
        className="max-h-[32rem] overflow-auto px-3 py-2.5 font-mono text-[0.75rem] leading-[1.25rem] focus-visible:outline-offset-[-2px]"
      >
        {mode === 'raw' ? (
          <pre className="break-all whitespace-pre-wrap">{raw}</pre>
        ) : (
          <Value value={parsed.value} depth={0} after="" />
        )}
      </section>
    </figure>
  );
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

interface ValueProps {
  readonly name?: string;
  readonly value: unknown;
  readonly depth: number;
  /** The comma that separates it from the next value. */
  readonly after: string;
}

function Value({ name, value, depth, after }: ValueProps) {
  if (typeof value === 'object' && value !== null)
    return (
      <Collection {...(name === undefined ? {} : { name })} members={value} depth={depth} after={after} />
    );
  return (
    <div className="pl-4">
      <Name name={name} />
      <Scalar value={value} />
      {after}
    </div>
  );
}

function Name({ name }: { readonly name: string | undefined }) {
  if (name === undefined) return null;
  return (
    <>
      <span className="text-ink">{JSON.stringify(name)}</span>
      {': '}
    </>
  );
}

function Scalar({ value }: { readonly value: unknown }) {
  if (typeof value === 'string') {
    if (pageOf(value) !== undefined && /^[a-z]{3}_[0-9a-z]{26}$/.test(value))
      return (
        <span className="text-good">
          "<IdLink id={value} />"
        </span>
      );
    return <span className="break-words whitespace-pre-wrap text-good">{JSON.stringify(value)}</span>;
  }
  return <span className={typeof value === 'number' ? 'text-note' : 'text-warn'}>{String(value)}</span>;
}

interface CollectionProps {
  readonly name?: string;
  readonly members: object;
  readonly depth: number;
  readonly after: string;
}

function Collection({ name, members, depth, after }: CollectionProps) {
  const [isOpen, setOpen] = useState(depth < openDepth);
  const [shownMax, setShownMax] = useState(membersShownMax);
  const entries = Object.entries(members);
  const isList = Array.isArray(members);
  const [start, end] = isList ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) {
    return (
      <div className="pl-4">
        <Name name={name} />
        {start}
        {end}
        {after}
      </div>
    );
  }
  return (
    <div>
      <Toggle isOpen={isOpen} onClick={() => setOpen(!isOpen)} what={name ?? (isList ? 'list' : 'object')}>
        <Name name={name} />
        {start}
        {isOpen ? null : (
          <span className="text-muted">
            {' '}
            {entries.length} {isList ? 'items' : 'fields'} {end}
            {after}
          </span>
        )}
      </Toggle>
      {isOpen ? (
        <>
          <div className="ml-[0.45rem] border-l pl-2">
            {entries.slice(0, shownMax).map(([key, member], index) => (
              <Value
                key={key}
                {...(isList ? {} : { name: key })}
                value={member}
                depth={depth + 1}
                after={index === entries.length - 1 ? '' : ','}
              />
            ))}
            {entries.length > shownMax ? (
              <button
                type="button"
                className="ml-4 text-accent hover:underline"
                onClick={() => setShownMax(shownMax + membersShownMax)}
              >
                {entries.length - shownMax} more
              </button>
            ) : null}
          </div>
          <div className="pl-4">
            {end}
            {after}
          </div>
        </>
      ) : null}
    </div>
  );
}

interface ToggleProps {
  readonly isOpen: boolean;
  readonly onClick: () => void;
  readonly what: string;
  readonly children: ReactNode;
}

function Toggle({ isOpen, onClick, what, children }: ToggleProps) {
  return (
    <div className="flex items-start">
      <button
        type="button"
        aria-expanded={isOpen}
        aria-label={`${isOpen ? 'Collapse' : 'Expand'} ${what}`}
        onClick={onClick}
        className="flex h-5 w-4 shrink-0 items-center text-faint hover:text-ink"
      >
        <ChevronRight aria-hidden size={12} className={isOpen ? 'rotate-90' : ''} />
      </button>
      <span className="min-w-0">{children}</span>
    </div>
  );
}
