import type { ReactNode } from 'react';
import { useSession } from '../../frame/session.tsx';
import type { ApiKeyWithSecret } from '../../generated/shapes.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { SecretDialog } from '../secret.tsx';

export interface CreatedKeyProps {
  readonly title: string;
  readonly created: ApiKeyWithSecret;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** A new key, with a curl command to try it: the status endpoint accepts every scope. */
export function CreatedKey({ title, created, onClose, children }: CreatedKeyProps) {
  const { publicUrl } = useSession();
  const key = created.key ?? '';
  const command = `curl ${publicUrl}/_api/developer_api_status \\\n  -H "Authorization: Bearer ${key}"`;
  return (
    <SecretDialog title={title} description={created.name} what="API key" secret={key} onClose={onClose}>
      {children}
      <CodeBlock title="Try it" what="curl line" code={command} />
    </SecretDialog>
  );
}
