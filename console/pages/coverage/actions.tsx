import { Download } from 'lucide-react';
import { useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import { type ApiProblem, address, asProblem, refusalOf } from '../../client/request.ts';
import { saveFile } from '../../client/save.ts';
import { useScope } from '../../client/scope.ts';
import { useAllowed } from '../../frame/session.tsx';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { useToast } from '../../parts/toast.tsx';

/** As a file for a build server, and a fresh count for the next run of tests. */
export function CoverageActions({ resource }: { readonly resource: string | undefined }) {
  const isAllowed = useAllowed('developer');
  const [isAsking, setAsking] = useState(false);
  const download = useJunit(resource);
  return (
    <>
      <Button
        icon={<Download aria-hidden size={15} />}
        isBusy={download.isBusy}
        onClick={() => void download.start()}
      >
        JUnit XML
      </Button>
      {isAllowed ? <Button onClick={() => setAsking(true)}>Start over…</Button> : null}
      {isAsking ? <StartOver onClose={() => setAsking(false)} /> : null}
    </>
  );
}

const timeoutMs = 30_000;

function useJunit(resource: string | undefined) {
  const scope = useScope();
  const { toast } = useToast();
  const [isBusy, setBusy] = useState(false);
  const start = async () => {
    setBusy(true);
    try {
      const response = await fetch(address('app/developer_api_coverage', scope, { resource }), {
        credentials: 'same-origin',
        headers: { Accept: 'application/xml' },
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (!response.ok) throw await refusalOf(response);
      saveFile(await response.text(), 'coverage.xml', 'application/xml');
      toast('coverage.xml is saved');
    } catch (thrown) {
      const problem: ApiProblem = asProblem(thrown);
      toast(problem.message, { isBad: true });
    }
    setBusy(false);
  };
  return { start, isBusy };
}

function StartOver({ onClose }: { readonly onClose: () => void }) {
  const { toast } = useToast();
  const reset = useWrite('app/developer_api_coverage/reset', {
    onDone: () => {
      toast('Counting starts over');
      onClose();
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onOpenChange={onClose}
      title="Start counting over?"
      confirmLabel="Start over"
      isDanger
      isBusy={reset.isBusy}
      problem={reset.problem}
      onConfirm={() => void reset.write({})}
    >
      What was met so far is forgotten, for all applications of the organization. Records stay.
    </ConfirmDialog>
  );
}
