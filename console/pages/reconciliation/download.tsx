import { Download } from 'lucide-react';
import { useState } from 'react';
import { type ApiProblem, asProblem } from '../../client/request.ts';
import { saveFile } from '../../client/save.ts';
import { useScope } from '../../client/scope.ts';
import { Button } from '../../parts/button.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { pluralize } from '../../parts/text.ts';
import { useToast } from '../../parts/toast.tsx';
import { readReport } from './csv.ts';

export function useDownload(date: string) {
  const scope = useScope();
  const { toast } = useToast();
  const [lines, setLines] = useState<number | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const download = async () => {
    setProblem(null);
    setLines(0);
    try {
      saveFile(await readReport(date, scope, setLines), `settlement-${date}.csv`, 'text/csv');
      toast(`settlement-${date}.csv saved`);
    } catch (thrown) {
      setProblem(asProblem(thrown));
    }
    setLines(null);
  };
  return {
    button: (
      <Button
        onClick={() => void download()}
        isBusy={lines !== null}
        icon={<Download aria-hidden size={15} />}
      >
        {lines ? pluralize(lines, 'line') : 'Download CSV'}
      </Button>
    ),
    banner: problem ? <ProblemBanner problem={problem} onRetry={() => void download()} /> : null,
  };
}
