import type { ReactNode } from 'react';

/** A sentence of the server, in which names of fields and values are in backticks: they are shown as code. Other content is unchanged. */
export function Prose({ text }: { readonly text: ReactNode }) {
  if (typeof text !== 'string') return text;
  return text.split(/`([^`]+)`/).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence do not move
      <code key={index} className="font-mono text-[0.92em]">
        {part}
      </code>
    ),
  );
}
