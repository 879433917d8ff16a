import { useState } from 'react';
import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';

export interface CodeBlockProps {
  readonly code: string;
  /** Label for screen readers and above the code. */
  readonly title?: string;
  readonly what?: string;
  /** Longer code is collapsed to this number of lines. */
  readonly linesMax?: number;
}

/** Plain text, never parsed as markup, with a copy button. */
export function CodeBlock({ code, title, what = 'code', linesMax = 400 }: CodeBlockProps) {
  const [isWhole, setWhole] = useState(false);
  const lines = code.split('\n');
  const isLong = lines.length > linesMax;
  const shown = isLong && !isWhole ? `${lines.slice(0, linesMax).join('\n')}\n…` : code;
  return (
    <figure className="min-w-0 overflow-hidden rounded-md border bg-sunken">
      <figcaption className="flex min-h-8 items-center justify-between gap-2 border-b px-3 text-xs text-muted">
        <span className="truncate">{title}</span>
        <CopyButton text={code} what={what} />
      </figcaption>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        tabIndex={0}
        className="max-h-[32rem] overflow-auto px-3 py-2.5 font-mono text-[0.75rem] leading-[1.25rem] focus-visible:outline-offset-[-2px]"
      >
        <code>{shown}</code>
      </pre>
      {isLong ? (
        <div className="border-t p-1.5">
          <Button size="small" variant="ghost" onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Show less' : `Show all ${lines.length} lines`}
          </Button>
        </div>
      ) : null}
    </figure>
  );
}
