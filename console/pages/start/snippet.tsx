import { useFilters } from '../../client/filters.ts';
import { useSession } from '../../frame/session.tsx';
import { CodeBlock } from '../../parts/code-block.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { type Body, languages, snippetOf } from './snippets.ts';

export interface SnippetProps {
  /** The block's title: what the request does. */
  readonly title: string;
  readonly path: string;
  readonly body: Body;
}

/** One request in three languages; the selected language applies to the whole page. */
export function Snippet({ title, path, body }: SnippetProps) {
  const [filters, setFilters] = useFilters('language');
  const { publicUrl } = useSession();
  const chosen = languages.find(({ value }) => value === filters.language)?.value ?? 'curl';
  return (
    <Tabs
      label={`Language of: ${title}`}
      value={chosen}
      onChange={(language) => setFilters({ language: language === 'curl' ? '' : language })}
      tabs={languages.map(({ value, label }) => ({
        value,
        label,
        content: (
          <div className="-mt-2">
            <CodeBlock
              code={snippetOf(value, publicUrl, path, body)}
              title={title}
              what={`${label} snippet`}
            />
          </div>
        ),
      }))}
    />
  );
}
