/**
 * The database work of one create request as a plain client would do it: begin, insert the same rows, commit. The idempotency
 * key is not looked up: the server does not do that for an unknown key either, and the primary key rejects a duplicate.
 * Derived from two real create requests. Values that differ between them are specific to a request: ids and keys become unique
 * values of the same length in each transaction; all other values are copied. Copied values are sent as parameters, as usual
 * with prepared statements: literals would be transferred and parsed only once, which is less work than the server has.
 */
import type { Column, Row, Sample, Table } from './sample.ts';

/** `number`: 12 digits, unique and ascending. `random`: 11 digits, so that keys arrive unordered, like those of clients. */
type Parameter =
  | { readonly kind: 'number' }
  | { readonly kind: 'random' }
  | { readonly kind: 'copied'; readonly text: string };

export interface Statement {
  /** With `$1`, `$2`, ... for the parameters. */
  readonly sql: string;
  readonly parameters: readonly Parameter[];
}

const NUMBER_DIGITS = 12;
const RANDOM_DIGITS = 11;
const TYPE_ID = /^[a-z]{2,5}_[0-9a-z]{26}$/;

export function baselineStatements(tables: readonly Table[], first: Sample, second: Sample): Statement[] {
  const ordinals = new Map<string, number>();
  const written = inOrderOfReferences(tables.filter(({ name }) => first.inserted.has(name)));
  const statements: Statement[] = [];

  for (const table of written) {
    const rows = first.inserted.get(table.name) ?? [];
    const others = second.inserted.get(table.name) ?? [];
    if (rows.length !== others.length)
      throw new Error(
        `Two identical create requests wrote ${rows.length} and ${others.length} rows to ${table.name}.`,
      );
    const columns = table.columns.filter(({ automatic }) => !automatic);
    const builder = new StatementBuilder(first.idempotencyKey, ordinals);
    const expressions = rows.map((row, index) =>
      columns.map((column) => builder.expression(table, column, row, others[index] ?? row)),
    );
    statements.push({
      sql: `insert into ${table.name} (${columns.map(({ name }) => `"${name}"`).join(', ')}) values ${expressions
        .map((list) => `(${list.join(', ')})`)
        .join(', ')}`,
      parameters: builder.parameters,
    });
  }
  if (!first.inserted.has('idempotency')) throw new Error('No idempotency key was written.');
  return statements;
}

class StatementBuilder {
  readonly parameters: Parameter[] = [];
  readonly #idempotencyKey: string;
  /** Two ids of the same millisecond may share a prefix, so each sample id gets its own number. */
  readonly #ordinals: Map<string, number>;

  constructor(idempotencyKey: string, ordinals: Map<string, number>) {
    this.#idempotencyKey = idempotencyKey;
    this.#ordinals = ordinals;
  }

  expression(table: Table, column: Column, row: Row, other: Row): string {
    const text = row[column.name] ?? null;
    if (text === null) return 'null';
    const own = text !== other[column.name];
    if (own && text === this.#idempotencyKey) {
      return `${this.#place({ kind: 'random' })}::text || '${text.slice(RANDOM_DIGITS, -NUMBER_DIGITS)}' || ${this.#place({ kind: 'number' })}::text`;
    }
    const mustDiffer = table.uniques.some((names) => names.includes(column.name));
    if (own && (mustDiffer || TYPE_ID.test(text))) return this.#unique(column, text);
    // pgbench cannot define an empty variable.
    if (text === '') return `''::${column.type}`;
    return `${this.#place({ kind: 'copied', text })}::${column.type}`;
  }

  #unique(column: Column, text: string): string {
    const number = this.#place({ kind: 'number' });
    if (/^(bigint|numeric|integer)/.test(column.type)) return `${number}::${column.type}`;
    const ordinal = String(this.#ordinals.get(text) ?? this.#ordinals.size).padStart(2, '0');
    this.#ordinals.set(text, Number(ordinal));
    const prefix = text.slice(0, -NUMBER_DIGITS - ordinal.length);
    if (column.type === 'text' || column.type.startsWith('character'))
      return `'${prefix}${ordinal}' || ${number}::text`;
    if (column.type === 'uuid' || column.type === 'bytea') {
      // A UUID's last group has 12 digits, with a dash before it.
      const start = column.type === 'uuid' ? `${prefix.slice(0, -1)}${ordinal}-` : `${prefix}${ordinal}`;
      return `('${start}' || ${number}::text)::${column.type}`;
    }
    throw new Error(`Cannot generate unique values of type ${column.type}.`);
  }

  #place(parameter: Parameter): string {
    // A number is sent once, even if several columns use it; copied values are sent once per column.
    const known =
      parameter.kind === 'copied' ? -1 : this.parameters.findIndex(({ kind }) => kind === parameter.kind);
    if (known >= 0) return `$${known + 1}`;
    this.parameters.push(parameter);
    return `$${this.parameters.length}`;
  }
}

function inOrderOfReferences(tables: readonly Table[]): Table[] {
  const ordered: Table[] = [];
  let waiting = [...tables];
  while (waiting.length > 0) {
    const isWaiting = (name: string, self: Table): boolean =>
      name !== self.name && waiting.some((table) => table.name === name);
    const free = waiting.filter((table) => !table.references.some((name) => isWaiting(name, table)));
    if (free.length === 0) throw new Error('The foreign keys are cyclic.');
    ordered.push(...free);
    waiting = waiting.filter((table) => !free.includes(table));
  }
  return ordered;
}
