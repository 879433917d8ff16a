import { Download } from 'lucide-react';
import { useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import { type ApiProblem, apiUrl, asProblem, problemFrom } from '../../client/request.ts';
import { saveFile } from '../../client/save.ts';
import { useScope } from '../../client/scope.ts';
import { useAllowed } from '../../frame/session.tsx';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { useToast } from '../../parts/toast.tsx';

/** Downloads the report as JUnit XML, and resets the counters before the next test run. */
export function CoverageActions({ resource }: { readonly resource: string | undefined }) {
  const isAllowed = useAllowed('developer');
  const [isConfirming, setConfirming] = useState(false);
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
      {isAllowed ? <Button onClick={() => setConfirming(true)}>Reset coverage…</Button> : null}
      {isConfirming ? <ResetCoverage onClose={() => setConfirming(false)} /> : null}
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
      const response = await fetch(apiUrl('app/developer_api_coverage', scope, { resource }), {
        credentials: 'same-origin',
        headers: { Accept: 'application/xml' },
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (!response.ok) throw await problemFrom(response);
      saveFile(await response.text(), 'coverage.xml', 'application/xml');
      toast('coverage.xml saved');
    } catch (thrown) {
      const problem: ApiProblem = asProblem(thrown);
      toast(problem.message, { isBad: true });
    }
    setBusy(false);
  };
  return { start, isBusy };
}

function ResetCoverage({ onClose }: { readonly onClose: () => void }) {
  const { toast } = useToast();
  const reset = useWrite('app/developer_api_coverage/reset', {
    onDone: () => {
      toast('Coverage reset');
      onClose();
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onOpenChange={onClose}
      title="Reset coverage?"
      confirmLabel="Reset coverage"
      isDanger
      isBusy={reset.isBusy}
      problem={reset.problem}
      onConfirm={() => void reset.write({})}
      code={reset.request({})}
    >
      Clears the counters of all applications in the organization. Records are not affected.
    </ConfirmDialog>
  );
}
