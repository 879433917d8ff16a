import { Tabs } from 'radix-ui';
import type { ReactNode } from 'react';
import type { ApiRequest } from '../client/request.ts';
import { useSession } from '../frame/session.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { HighlightedCode } from './highlighted-code.tsx';
import { type Language, languages } from './languages.ts';
import { setLanguage, useLanguage } from './preferred-language.ts';
import { sampleOf } from './samples.ts';

export interface SampleTabsProps {
  readonly request: ApiRequest;
  /** The operation, for screen readers. */
  readonly title: string;
  /** To the right of the tabs. */
  readonly action?: ReactNode;
}

/** One request in each language that can express it, with a copy button. */
export default function SampleTabs({ request, title, action }: SampleTabsProps) {
  const { publicUrl } = useSession();
  const preferred = useLanguage();
  const samples = languages.flatMap((language) => {
    const code = sampleOf(language.value, request, publicUrl);
    return code === undefined ? [] : [{ ...language, code }];
  });
  const shown = samples.find(({ value }) => value === preferred) ?? samples[0];
  if (shown === undefined) return null;
  return (
    <Tabs.Root value={shown.value} onValueChange={(value) => setLanguage(value as Language)} asChild>
      <figure className="min-w-0 overflow-hidden rounded-md border bg-sunken">
        <figcaption className="flex min-h-9 items-center gap-3 border-b px-3 text-xs">
          <Tabs.List
            aria-label={`Code: ${title}`}
            className="scroll-tabs flex min-w-0 flex-1 gap-0.5 overflow-x-auto py-1"
          >
            {samples.map(({ value, label }) => (
              <Tabs.Trigger
                key={value}
                value={value}
                className="h-6 shrink-0 rounded-sm px-1.5 text-muted hover:text-ink focus-visible:outline-offset-[-2px] data-[state=active]:bg-surface data-[state=active]:font-medium data-[state=active]:text-ink"
              >
                {label}
              </Tabs.Trigger>
            ))}
          </Tabs.List>
          <CopyButton text={shown.code} what={`${shown.label} code`} />
          {action}
        </figcaption>
        {samples.map(({ value, code }) => (
          <Tabs.Content key={value} value={value} tabIndex={-1}>
            <HighlightedCode code={code} label={`${title}, ${shown.label}`} />
          </Tabs.Content>
        ))}
      </figure>
    </Tabs.Root>
  );
}
