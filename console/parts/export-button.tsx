import { Download } from 'lucide-react';
import { useState } from 'react';
import { csvOf, readAll, rowsExportedMax } from '../client/export.ts';
import { asProblem, type Path, type Query } from '../client/request.ts';
import { saveFile } from '../client/save.ts';
import { useScope } from '../client/scope.ts';
import { Button } from './button.tsx';
import { useToast } from './toast.tsx';

export interface ExportButtonProps {
  readonly path: Path;
  readonly filters: Query;
  /** 'payments': the name of the file. */
  readonly name: string;
}

/** Downloads all rows of a list that match its filters as CSV. */
export function ExportButton({ path, filters, name }: ExportButtonProps) {
  const scope = useScope();
  const { toast } = useToast();
  const [rows, setRows] = useState<number | null>(null);
  const download = async () => {
    setRows(0);
    try {
      const { rows: all, isCut } = await readAll(path, filters, scope, setRows);
      saveFile(csvOf(all), `${name}.csv`, 'text/csv');
      toast(
        isCut
          ? `${name}.csv downloaded with the newest ${rowsExportedMax.toLocaleString('en')} rows`
          : `${name}.csv downloaded`,
      );
    } catch (thrown) {
      toast(asProblem(thrown).message, { isBad: true });
    }
    setRows(null);
  };
  return (
    <Button
      size="small"
      variant="ghost"
      isBusy={rows !== null}
      icon={<Download aria-hidden size={14} />}
      onClick={() => void download()}
    >
      <span className="max-xl:sr-only">
        {rows === null || rows === 0 ? 'Export CSV' : `${rows.toLocaleString('en')} rows`}
      </span>
    </Button>
  );
}
