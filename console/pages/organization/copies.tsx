import { Download } from 'lucide-react';
import { useState } from 'react';
import { address } from '../../client/request.ts';
import { useScope } from '../../client/scope.ts';
import { useAllowed, useMayFound } from '../../frame/session.tsx';
import { Button, buttonClass } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { ForkOrganization } from './fork.tsx';

/** The organization as a file, or once more beside itself. */
export function CopiesCard({ name }: { readonly name: string }) {
  const mayCopy = useAllowed('admin');
  const mayFork = useMayFound();
  const [isForking, setForking] = useState(false);
  const scope = useScope();
  return (
    <Card
      title="Copies"
      description="A snapshot is a file with all records and settings, without secrets, that another Sandbank can import. A fork is the same organization once more, to break and throw away."
    >
      {mayCopy ? (
        <div className="flex flex-wrap gap-2">
          {/* A plain link: the browser writes the file while it comes, however long it is. */}
          <a
            href={address('org/snapshot', scope)}
            download={`${fileName(name)}.jsonl`}
            className={buttonClass()}
          >
            <Download aria-hidden size={15} />
            Download snapshot
          </a>
          {mayFork ? <Button onClick={() => setForking(true)}>Fork organization…</Button> : null}
        </div>
      ) : (
        <p className="text-sm text-muted">Admins and owners of the organization do this.</p>
      )}
      {isForking ? <ForkOrganization name={name} onClose={() => setForking(false)} /> : null}
    </Card>
  );
}

function fileName(name: string): string {
  const plain = name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return plain.replace(/^-|-$/g, '') || 'snapshot';
}
