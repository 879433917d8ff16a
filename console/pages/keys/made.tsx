import type { ReactNode } from 'react';
import type { ApiKey } from '../../client/shapes.ts';
import { useSession } from '../../frame/session.tsx';
import { CodeBlock } from '../../parts/code-block.tsx';
import { SecretDialog } from '../secret.tsx';

export interface MadeKeyProps {
  readonly title: string;
  readonly made: ApiKey;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** A key that was just made, and a line that tries it: the status works with every scope. */
export function MadeKey({ title, made, onClose, children }: MadeKeyProps) {
  const { publicUrl } = useSession();
  const key = made.key ?? '';
  const line = `curl ${publicUrl}/_api/developer_api_status \\\n  -H "Authorization: Bearer ${key}"`;
  return (
    <SecretDialog title={title} description={made.name} what="API key" secret={key} onClose={onClose}>
      {children}
      <CodeBlock title="Try it" what="curl line" code={line} />
    </SecretDialog>
  );
}
