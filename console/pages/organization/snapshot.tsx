import { Download } from 'lucide-react';
import { useOpenParam } from '../../client/filters.ts';
import { apiUrl } from '../../client/request.ts';
import { useScope } from '../../client/scope.ts';
import { useAllowed, useMayCreateOrganization } from '../../frame/session.tsx';
import { Button, buttonClass } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { ForkOrganization } from './fork.tsx';
import { RestoreSnapshot } from './restore.tsx';

/** Downloads a snapshot of the organization, restores one, or forks the organization. */
export function SnapshotCard({ name }: { readonly name: string }) {
  const mayCopy = useAllowed('admin');
  const mayFork = useMayCreateOrganization();
  const [isForking, setForking] = useOpenParam('fork');
  const [isRestoring, setRestoring] = useOpenParam('restore');
  const scope = useScope();
  return (
    <Card
      title="Snapshot and fork"
      description="A snapshot is a file with all records and settings, without secrets, that you can restore here or on another Sandbank server. A fork is a copy of the organization for experiments."
    >
      {mayCopy ? (
        <div className="flex flex-wrap gap-2">
          {/* A plain link: the browser streams a file of any size to disk. */}
          <a
            href={apiUrl('org/snapshot', scope)}
            download={`${fileName(name)}.jsonl`}
            className={buttonClass()}
          >
            <Download aria-hidden size={15} />
            Download snapshot
          </a>
          <Button onClick={() => setRestoring(true)}>Restore snapshot…</Button>
          {mayFork ? <Button onClick={() => setForking(true)}>Fork organization…</Button> : null}
        </div>
      ) : (
        <p className="text-sm text-muted">Requires the admin or owner role.</p>
      )}
      {isRestoring && mayCopy ? <RestoreSnapshot name={name} onClose={() => setRestoring(false)} /> : null}
      {isForking && mayCopy && mayFork ? (
        <ForkOrganization name={name} onClose={() => setForking(false)} />
      ) : null}
    </Card>
  );
}

function fileName(name: string): string {
  const plain = name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return plain.replace(/^-|-$/g, '') || 'snapshot';
}
