export interface HighlightedCodeProps {
  readonly code: string;
  /** For screen readers. */
  readonly label: string;
}

// Strings, numbers and keywords of the three languages; everything else has the color of the text.
const token =
  /(?<text>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")|(?<number>\b\d+(?:\.\d+)?\b)|(?<keyword>\b(?:import|from|const|new|await|for|of|with|as|curl|True|False|None|true|false|null)\b)/g;
const colors = { text: 'text-good', number: 'text-note', keyword: 'text-accent' } as const;

/** Code with colors. A scrolling region, so it can be reached by keyboard. */
export function HighlightedCode({ code, label }: HighlightedCodeProps) {
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
      tabIndex={0}
      aria-label={label}
      className="max-h-[min(24rem,38vh)] overflow-auto focus-visible:outline-offset-[-2px]"
    >
      <pre className="w-max min-w-full px-3 py-2.5 font-mono text-[0.75rem] leading-[1.25rem]">
        <code>
          {partsOf(code).map(({ at, text, kind }) => (
            <span key={at} className={kind === undefined ? undefined : colors[kind]}>
              {text}
            </span>
          ))}
        </code>
      </pre>
    </section>
  );
}

interface Part {
  readonly at: number;
  readonly text: string;
  readonly kind?: keyof typeof colors;
}

function partsOf(code: string): readonly Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const match of code.matchAll(token)) {
    if (match.index > end) parts.push({ at: end, text: code.slice(end, match.index) });
    const kind = (['text', 'number', 'keyword'] as const).find((name) => match.groups?.[name] !== undefined);
    parts.push({ at: match.index, text: match[0], ...(kind === undefined ? {} : { kind }) });
    end = match.index + match[0].length;
  }
  parts.push({ at: end, text: code.slice(end) });
  return parts;
}
