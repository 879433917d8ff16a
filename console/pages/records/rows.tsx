import { Plus, X } from 'lucide-react';
import { useId } from 'react';
import { useLimits } from '../../client/capabilities.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { FieldProblem } from '../../parts/field.tsx';
import { useMissing } from '../../parts/form.tsx';

/** One line of metadata or evidence in a form; `key` is its React key. */
export interface Row {
  readonly key: number;
  readonly name: string;
  readonly value: string;
}

export interface RowsProps {
  readonly label: string;
  readonly hint?: string;
  readonly rows: readonly Row[];
  readonly onChange: (rows: readonly Row[]) => void;
  /** The body field, whose limits apply. */
  readonly param: 'metadata' | 'evidence';
}

export function rowsOf(record: Readonly<Record<string, string>> | null): readonly Row[] {
  return Object.entries(record ?? {}).map(([name, value], key) => ({ key, name, value }));
}

/** The first mistake in the lines: a value without a name, or a name that an earlier line has. */
export function rowsProblem(rows: readonly Row[]): { readonly key: number; readonly text: string } | null {
  const names = new Set<string>();
  for (const [index, { key, name, value }] of rows.entries()) {
    const trimmed = name.trim();
    if (trimmed === '' && value !== '') return { key, text: `Line ${index + 1} needs a name.` };
    if (names.has(trimmed)) return { key, text: `An earlier line has the name “${trimmed}”.` };
    if (trimmed !== '') names.add(trimmed);
  }
  return null;
}

/** The entered lines as an object, or undefined if there are none. Empty lines are omitted. */
export function recordOf(rows: readonly Row[]): Record<string, string> | undefined {
  const named = rows.filter(({ name }) => name.trim() !== '');
  if (named.length === 0) return undefined;
  return Object.fromEntries(named.map(({ name, value }) => [name.trim(), value]));
}

/** An editor for name-value pairs, one line each. */
export function Rows({ label, hint, rows, onChange, param }: RowsProps) {
  const limits = useLimits();
  const [rowsMax, valueMax] =
    param === 'metadata'
      ? [limits.metadataKeysMax, limits.metadataValueLengthMax]
      : [limits.evidenceKeysMax, limits.evidenceValueLengthMax];
  const id = useId();
  const problem = rowsProblem(rows);
  const shownProblem = useMissing(problem?.text);
  const change = (key: number, part: Partial<Row>) =>
    onChange(rows.map((row) => (row.key === key ? { ...row, ...part } : row)));
  const add = () =>
    onChange([...rows, { key: Math.max(-1, ...rows.map(({ key }) => key)) + 1, name: '', value: '' }]);
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">
        {label} <span className="font-normal text-faint">(optional)</span>
      </legend>
      {hint === undefined ? null : <p className="text-sm text-muted">{hint}</p>}
      {rows.map((row, index) => (
        <div key={row.key} className="flex items-start gap-2">
          <input
            aria-label={`${label}, name ${index + 1}`}
            placeholder="Name"
            maxLength={limits.metadataKeyLengthMax}
            value={row.name}
            {...(shownProblem !== undefined && row.key === problem?.key
              ? { 'aria-invalid': true, 'aria-describedby': `${id}-error` }
              : {})}
            onChange={(event) => change(row.key, { name: event.currentTarget.value })}
            className="control min-w-0 flex-2"
          />
          <input
            aria-label={`${label}, value ${index + 1}`}
            placeholder="Value"
            maxLength={valueMax}
            value={row.value}
            onChange={(event) => change(row.key, { value: event.currentTarget.value })}
            className="control min-w-0 flex-3"
          />
          <IconButton
            label={`Remove line ${index + 1}`}
            icon={<X aria-hidden size={15} />}
            onClick={() => onChange(rows.filter(({ key }) => key !== row.key))}
          />
        </div>
      ))}
      {shownProblem === undefined ? (
        <FieldProblem param={param} label={label} />
      ) : (
        <p id={`${id}-error`} className="text-sm text-bad">
          {shownProblem}
        </p>
      )}
      {rowsMax === undefined || rows.length < rowsMax ? (
        <div>
          <Button size="small" icon={<Plus aria-hidden size={14} />} onClick={add}>
            Add line
          </Button>
        </div>
      ) : null}
    </fieldset>
  );
}
