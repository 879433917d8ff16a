import { loadModule, parsePlPgSQLSync, parseSync } from 'libpg-query';
import { type DatabaseSchema, distributedTables, readSchema } from '../../../scripts/citus/schema.ts';
import { Analyser, type Options, type Schema } from './analyser.ts';

await loadModule();

const database = readSchema();

export const schema: Schema = {
  tables: new Map(database.tables.map(({ name, columns }) => [name, columns])),
  distributed: new Set(distributedTables),
};

/** The distributed tables of a text with one or more statements that are not restricted by `org_id`, as messages. */
export function findUnrestricted(text: string, options: Options = {}): readonly string[] {
  const { stmts = [] } = parseSync(text);
  return stmts.flatMap(({ stmt }) => (stmt ? new Analyser(schema).analyse(stmt, options) : []));
}

/** The same for the statements inside of a function of the schema. */
export function findUnrestrictedInFunction(definition: string, options: Options = {}): readonly string[] {
  const variables = new Set(['new', 'old', ...parametersOf(definition)]);
  if (/\blanguage sql\b/i.test(definition)) {
    const [, body = ''] = /\$function\$([\s\S]*)\$function\$/.exec(definition) ?? [];
    return findUnrestricted(body, { ...options, variables });
  }
  const parsed: unknown = parsePlPgSQLSync(definition);
  const expressions: string[] = [];
  const walk = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key === 'PLpgSQL_var') variables.add((value as { refname: string }).refname);
      if (key === 'PLpgSQL_expr') expressions.push(statementOf(value as PlPgSqlExpression));
      walk(value);
    }
  };
  walk(parsed);
  return expressions.flatMap((text) => findUnrestricted(text, { ...options, variables }));
}

interface PlPgSqlExpression {
  readonly query: string;
  /** 0 for a statement, 2 for an expression, more for an assignment. */
  readonly parseMode?: number;
}

function statementOf({ query, parseMode = 0 }: PlPgSqlExpression): string {
  if (parseMode === 0) return query;
  return `select ${parseMode > 2 ? query.slice(query.indexOf('=') + 1) : query}`;
}

function parametersOf(definition: string): readonly string[] {
  const { stmts = [] } = parseSync(definition);
  const [{ stmt } = {}] = stmts;
  if (!stmt || !('CreateFunctionStmt' in stmt)) throw new Error('this is not the definition of a function');
  return (stmt.CreateFunctionStmt.parameters ?? []).map((one) =>
    'FunctionParameter' in one ? (one.FunctionParameter.name ?? '') : '',
  );
}

export const functions: DatabaseSchema['functions'] = database.functions;
