import { Download } from 'lucide-react';
import { useState } from 'react';
import { csvOf, type ExportedRow } from '../client/csv.ts';
import { readAll, rowsExportedMax } from '../client/export.ts';
import { usePageCommands } from '../client/page-commands.ts';
import { asProblem, type Path, type Query } from '../client/request.ts';
import { saveFile } from '../client/save.ts';
import { useScope } from '../client/scope.ts';
import { Button } from './button.tsx';
import { useToast } from './toast.tsx';

export interface ExportButtonProps<Row> {
  readonly path: Path;
  readonly filters: Query;
  /** 'payments': the name of the file. */
  readonly name: string;
  /** For rows that are several lines of the file. */
  readonly linesOf?: (row: Row) => readonly ExportedRow[];
}

/** Downloads all rows of a list that match its filters as CSV. */
export function ExportButton<Row extends object>({ path, filters, name, linesOf }: ExportButtonProps<Row>) {
  const scope = useScope();
  const { toast } = useToast();
  const [rows, setRows] = useState<number | null>(null);
  const download = async () => {
    setRows(0);
    try {
      const { rows: all, isCut } = await readAll<Row>(path, filters, scope, setRows);
      const lines = linesOf === undefined ? all : all.flatMap(linesOf);
      saveFile(csvOf(lines), `${name}.csv`, 'text/csv');
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
    <DownloadButton
      label={rows === null || rows === 0 ? 'Export CSV' : `${rows.toLocaleString('en')} rows`}
      isBusy={rows !== null}
      onClick={() => void download()}
    />
  );
}

export interface ExportRowsProps {
  readonly rows: readonly object[];
  /** The name of the file. */
  readonly name: string;
  readonly label?: string;
}

/** The same for a list that the page has read completely. */
export function ExportRows({ rows, name, label = 'Export CSV' }: ExportRowsProps) {
  const { toast } = useToast();
  const download = () => {
    saveFile(csvOf(rows), `${name}.csv`, 'text/csv');
    toast(`${name}.csv downloaded`);
  };
  return <DownloadButton label={label} isBusy={false} isInert={rows.length === 0} onClick={download} />;
}

interface DownloadButtonProps {
  readonly label: string;
  readonly isBusy: boolean;
  readonly isInert?: boolean;
  readonly onClick: () => void;
}

function DownloadButton({ label, isBusy, isInert = false, onClick }: DownloadButtonProps) {
  usePageCommands(isBusy || isInert ? [] : [{ label, run: onClick }]);
  return (
    <Button
      size="small"
      variant="ghost"
      isBusy={isBusy}
      isInert={isInert}
      icon={<Download aria-hidden size={14} />}
      onClick={onClick}
    >
      <span className="max-xl:sr-only">{label}</span>
    </Button>
  );
}
