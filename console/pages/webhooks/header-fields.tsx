import { Plus, X } from 'lucide-react';
import { useLimits } from '../../client/capabilities.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { Field, FieldProblem, Input } from '../../parts/field.tsx';

/** One header in a form; `key` is its React key. */
export interface HeaderRow {
  readonly key: number;
  readonly name: string;
  readonly value: string;
}

/** The headers of the request body. Empty lines are omitted. */
export function headersOf(rows: readonly HeaderRow[]): Readonly<Record<string, string>> {
  const filled = rows.filter(({ name, value }) => name.trim() !== '' || value.trim() !== '');
  return Object.fromEntries(filled.map(({ name, value }) => [name.trim(), value.trim()]));
}

export interface HeaderFieldsProps {
  /** Null leaves the stored headers as they are. */
  readonly rows: readonly HeaderRow[] | null;
  readonly storedNames: readonly string[];
  readonly onChange: (rows: readonly HeaderRow[] | null) => void;
}

/** Headers that are sent with every attempt. Values are write-only, so a change replaces all of them. */
export function HeaderFields({ rows, storedNames, onChange }: HeaderFieldsProps) {
  const limits = useLimits();
  const isFull = rows !== null && rows.length >= (limits.webhookHeadersMax ?? Number.POSITIVE_INFINITY);
  const change = (key: number, part: Partial<HeaderRow>) =>
    onChange((rows ?? []).map((row) => (row.key === key ? { ...row, ...part } : row)));
  const add = (names: readonly string[]) => {
    const next = Math.max(-1, ...(rows ?? []).map(({ key }) => key)) + 1;
    onChange([...(rows ?? []), ...names.map((name, i) => ({ key: next + i, name, value: '' }))]);
  };
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">
        Custom headers <span className="font-normal text-faint">(optional)</span>
      </legend>
      <p className="text-sm text-muted">
        Sent with every attempt, such as an authorization. Values are stored encrypted and never shown again.
      </p>
      {rows === null && storedNames.length > 0 ? (
        <p className="font-mono text-sm break-all">{storedNames.map((name) => `${name}: ••••`).join(', ')}</p>
      ) : null}
      {(rows ?? []).map((row, index) => (
        <Row
          key={row.key}
          row={row}
          index={index}
          onChange={(part) => change(row.key, part)}
          onRemove={() => onChange((rows ?? []).filter(({ key }) => key !== row.key))}
        />
      ))}
      <FieldProblem param="headers" label="Custom headers" />
      <div className="flex flex-wrap gap-2">
        {rows === null && storedNames.length > 0 ? (
          <Button size="small" onClick={() => add(storedNames)}>
            Replace headers
          </Button>
        ) : isFull ? null : (
          <Button size="small" icon={<Plus aria-hidden size={14} />} onClick={() => add([''])}>
            Add header
          </Button>
        )}
        {rows !== null && storedNames.length > 0 ? (
          <Button size="small" variant="ghost" onClick={() => onChange(null)}>
            Keep the stored headers
          </Button>
        ) : null}
      </div>
    </fieldset>
  );
}

interface RowProps {
  readonly row: HeaderRow;
  readonly index: number;
  readonly onChange: (part: Partial<HeaderRow>) => void;
  readonly onRemove: () => void;
}

function Row({ row, index, onChange, onRemove }: RowProps) {
  const limits = useLimits();
  const [hasName, hasValue] = [row.name.trim() !== '', row.value.trim() !== ''];
  return (
    <div className="flex items-end gap-2">
      <Field
        label={`Header ${index + 1}`}
        param={hasName ? `headers.${row.name.trim()}` : null}
        className="min-w-0 flex-2 self-start"
        missing={hasValue && !hasName ? 'Enter a name.' : undefined}
      >
        <Input
          isMono
          autoComplete="off"
          spellCheck={false}
          placeholder="Authorization"
          maxLength={limits.webhookHeaderNameLengthMax}
          value={row.name}
          onChange={(event) => onChange({ name: event.currentTarget.value })}
        />
      </Field>
      <Field
        label={`Value ${index + 1}`}
        param={null}
        className="min-w-0 flex-3 self-start"
        missing={hasName && !hasValue ? 'Enter a value, or remove the header.' : undefined}
      >
        <Input
          isMono
          autoComplete="off"
          spellCheck={false}
          maxLength={limits.webhookHeaderValueLengthMax}
          value={row.value}
          onChange={(event) => onChange({ value: event.currentTarget.value })}
        />
      </Field>
      <IconButton
        label={`Remove header ${index + 1}`}
        icon={<X aria-hidden size={15} />}
        className="mt-6 self-start"
        onClick={onRemove}
      />
    </div>
  );
}
