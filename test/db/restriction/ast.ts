import type { ColumnRef, Node, RangeVar, SubLink } from 'libpg-query';

interface NodesByKind {
  readonly RangeVar: RangeVar;
  readonly SubLink: SubLink;
  readonly ColumnRef: ColumnRef;
}

/** All nodes of a kind, in any depth. */
export function nodesOf<Kind extends keyof NodesByKind>(tree: unknown, kind: Kind): NodesByKind[Kind][] {
  const found: NodesByKind[Kind][] = [];
  const walk = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key === kind || isRelation(kind, key, value)) found.push(value as NodesByKind[Kind]);
      walk(value);
    }
  };
  walk(tree);
  return found;
}

/** The target of INSERT, UPDATE and DELETE has no wrapper that names its kind. */
const isRelation = (kind: string, key: string, value: unknown): boolean =>
  kind === 'RangeVar' &&
  key === 'relation' &&
  typeof value === 'object' &&
  value !== null &&
  'relname' in value;

/** The strings of a list of names. */
export const namesOf = (nodes: readonly Node[] | undefined): readonly string[] =>
  (nodes ?? []).map((node) => ('String' in node ? (node.String.sval ?? '') : ''));

export const aliasOf = ({ alias, relname }: RangeVar): string => alias?.aliasname ?? relname ?? '';

/** The names of a column reference; `*` for a star. */
export const pathOf = ({ fields }: ColumnRef): readonly string[] =>
  (fields ?? []).map((field) => ('String' in field ? (field.String.sval ?? '') : '*'));

interface Equality {
  readonly left: Node;
  /** Several for `in` with a list. */
  readonly right: Node;
}

/** The equalities that must all hold for a condition to hold. Those below `or` and `not` need not hold. */
export function equalitiesOf(condition: Node | undefined): readonly Equality[] {
  if (!condition) return [];
  if ('BoolExpr' in condition) {
    const { boolop, args = [] } = condition.BoolExpr;
    return boolop === 'AND_EXPR' ? args.flatMap(equalitiesOf) : [];
  }
  if ('SubLink' in condition) {
    const { subLinkType, operName, testexpr } = condition.SubLink;
    const isIn =
      subLinkType === 'ANY_SUBLINK' && (operName === undefined || namesOf(operName).join('.') === '=');
    return isIn && testexpr ? [{ left: testexpr, right: condition }] : [];
  }
  if (!('A_Expr' in condition)) return [];
  const { kind, name, lexpr, rexpr } = condition.A_Expr;
  if (!lexpr || !rexpr || namesOf(name).join('.') !== '=') return [];
  if (kind === 'AEXPR_OP_ANY' || kind === 'AEXPR_IN') return [{ left: lexpr, right: rexpr }];
  if (kind !== 'AEXPR_OP') return [];
  const [lefts, rights] = [itemsOf(lexpr), itemsOf(rexpr)];
  if (lefts.length !== rights.length) return [];
  return lefts.flatMap((left, i) => {
    const right = rights[i];
    return right
      ? [
          { left, right },
          { left: right, right: left },
        ]
      : [];
  });
}

/** The items of a row, or the expression itself. */
export const itemsOf = (node: Node): readonly Node[] =>
  'RowExpr' in node ? (node.RowExpr.args ?? []) : [node];

/** Whether an assignment list changes the organization of a row. */
export const assignsOrganization = (targets: readonly Node[] | undefined): boolean =>
  (targets ?? []).some((target) => 'ResTarget' in target && target.ResTarget.name === 'org_id');

/** The name that PostgreSQL gives to a column without one. */
export function nameOf(value: Node): string {
  if ('FuncCall' in value) return namesOf(value.FuncCall.funcname).at(-1) ?? '';
  if ('ColumnRef' in value) return pathOf(value.ColumnRef).at(-1) ?? '';
  if ('TypeCast' in value && value.TypeCast.arg) return nameOf(value.TypeCast.arg);
  if ('CoalesceExpr' in value) return 'coalesce';
  if ('CaseExpr' in value) return 'case';
  return '?column?';
}

/** The columns of a function in FROM, as far as the statement shows them. */
export function columnsOfFunction(
  functions: readonly Node[] | undefined,
  names: readonly Node[] | undefined,
  hasOrdinality: boolean,
): readonly string[] | undefined {
  const given = names?.map((one) => {
    if ('ColumnDef' in one) return one.ColumnDef.colname ?? '';
    return 'String' in one ? (one.String.sval ?? '') : '';
  });
  const [first] = functions ?? [];
  const [call] = first && 'List' in first ? (first.List.items ?? []) : [];
  const isUnnest =
    call !== undefined && 'FuncCall' in call && namesOf(call.FuncCall.funcname).at(-1) === 'unnest';
  // `unnest` has a column for each array.
  const columns = given ?? (isUnnest ? call.FuncCall.args?.map(() => 'unnest') : undefined);
  return columns && hasOrdinality ? [...columns, 'ordinality'] : columns;
}
