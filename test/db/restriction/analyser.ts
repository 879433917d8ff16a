import type {
  ColumnRef,
  DeleteStmt,
  InsertStmt,
  JoinExpr,
  Node,
  RangeFunction,
  RangeVar,
  SelectStmt,
  SubLink,
  UpdateStmt,
  WithClause,
} from 'libpg-query';
import {
  aliasOf,
  assignsOrganization,
  columnsOfFunction,
  equalitiesOf,
  itemsOf,
  nameOf,
  namesOf,
  nodesOf,
  pathOf,
} from './ast.ts';
import { both, derive, type Premises, type Rule } from './rules.ts';
import { type Cte, type Output, type Relation, Scope } from './scope.ts';

/** Columns by table. */
export interface Schema {
  readonly tables: ReadonlyMap<string, readonly string[]>;
  /** The tables that are distributed by `org_id`. */
  readonly distributed: ReadonlySet<string>;
}

export interface Options {
  /** The names that a function defines. */
  readonly variables?: ReadonlySet<string>;
  readonly free?: (table: string) => boolean;
}

/** A use of a distributed table. */
interface Use {
  readonly table: string;
  readonly alias: string;
  readonly fact: string;
}

/** The relations on whose rows a condition has an effect: the inner side of an outer join, or both sides of other joins. */
type Affected = ReadonlySet<Relation>;

/**
 * Analyses one statement. It follows the organization from parameters, and from functions over parameters such as `unnest($1)`,
 * through equalities, subqueries and common table expressions to each distributed table. It is stricter than PostgreSQL:
 * `or`, comparisons other than equality, and conditions on the optional side of an outer join restrict nothing.
 */
export class Analyser {
  readonly #schema: Schema;
  readonly #rules: Rule[] = [];
  readonly #uses: Use[] = [];
  readonly #problems: string[] = [];
  readonly #visited = new Set<RangeVar>();
  readonly #subqueries = new Map<object, readonly Output[]>();
  #relations = 0;

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  /**
   * Every reason why the statement is not restricted to organizations. The rows of `free` tables may be found without one; all other
   * tables must then follow them.
   */
  analyse(statement: Node, { variables = new Set(), free = () => false }: Options): readonly string[] {
    const scope = new Scope(undefined, (name) => variables.has(name));
    // The rows of a trigger.
    for (const alias of ['new', 'old']) if (variables.has(alias)) scope.relations.push(this.#supplied(alias));
    this.#query(statement, scope);
    for (const { table, fact } of this.#uses) if (free(table)) this.#rule(fact, []);
    const missed = nodesOf(statement, 'RangeVar').filter(
      (one) => this.#schema.distributed.has(one.relname ?? '') && !this.#visited.has(one),
    );
    const facts = derive(this.#rules);
    return [
      ...this.#problems,
      ...missed.map(({ relname }) => `${relname} is used in a form that the analyser does not know`),
      ...this.#uses
        .filter(({ fact }) => !facts.has(fact))
        .map(({ table, alias }) => `${describe(table, alias)} is not restricted by org_id`),
    ];
  }

  #query(node: Node, outer: Scope): readonly Output[] {
    if ('SelectStmt' in node) return this.#select(node.SelectStmt, outer);
    if ('InsertStmt' in node) return this.#insert(node.InsertStmt, outer);
    if ('UpdateStmt' in node) return this.#change(node.UpdateStmt, node.UpdateStmt.fromClause, outer);
    if ('DeleteStmt' in node) return this.#change(node.DeleteStmt, node.DeleteStmt.usingClause, outer);
    if ('DeclareCursorStmt' in node && node.DeclareCursorStmt.query)
      return this.#query(node.DeclareCursorStmt.query, outer);
    // Any table that another kind of statement names is reported, because it was not visited.
    return [];
  }

  #select(select: SelectStmt, outer: Scope): readonly Output[] {
    const scope = new Scope(outer);
    this.#with(select.withClause, scope);
    if (select.op !== undefined && select.op !== 'SETOP_NONE') {
      this.#subqueriesOf([select.sortClause, select.limitOffset, select.limitCount], scope);
      const left = this.#select(select.larg ?? {}, scope);
      const right = this.#select(select.rarg ?? {}, scope);
      return left.map(({ name, premises }, i) => ({
        name,
        premises: both(premises, right[i]?.premises ?? null),
      }));
    }
    if (select.valuesLists) return this.#values(select.valuesLists, scope);
    const affected = this.#from(select.fromClause, scope);
    const { fromClause: _from, withClause: _with, ...expressions } = select;
    this.#subqueriesOf(expressions, scope);
    this.#conditions(select.whereClause, scope, affected);
    return this.#outputs(select.targetList, scope);
  }

  #values(lists: readonly Node[], scope: Scope): readonly Output[] {
    this.#subqueriesOf(lists, scope);
    const rows = lists.map((row) => ('List' in row ? (row.List.items ?? []) : []));
    return (rows[0] ?? []).map((_value, i) => ({
      name: `column${i + 1}`,
      premises: rows
        .map((row) => this.#premises(row[i], scope))
        .reduce((all, one) => both(all, one), [] as Premises),
    }));
  }

  #insert(insert: InsertStmt, outer: Scope): readonly Output[] {
    const scope = new Scope(outer);
    this.#with(insert.withClause, scope);
    const rows = insert.selectStmt ? this.#query(insert.selectStmt, scope) : [];
    const table = insert.relation?.relname ?? '';
    const columns = insert.cols?.map((col) => ('ResTarget' in col ? (col.ResTarget.name ?? '') : ''));
    const target = this.#target(insert.relation);
    const written = columns ?? this.#schema.tables.get(table) ?? [];
    written.forEach((column, i) => {
      this.#rule(target.fact(column), rows[i]?.premises ?? null);
    });
    if (this.#schema.distributed.has(table)) {
      if (!written.includes('org_id')) this.#problems.push(`an insert into ${table} does not supply org_id`);
      this.#conflict(insert, table);
    }
    scope.relations.push(target);
    const returning = this.#returning(insert, scope);
    scope.relations.push(this.#supplied('excluded'));
    this.#subqueriesOf(insert.onConflictClause, scope);
    return returning;
  }

  /** Citus finds the conflicting row in the shard of the new one, so the conflict must be about the organization, too. */
  #conflict({ onConflictClause: conflict }: InsertStmt, table: string): void {
    if (!conflict) return;
    const columns = conflict.infer?.indexElems?.map((one) => ('IndexElem' in one ? one.IndexElem.name : ''));
    if (columns && !columns.includes('org_id'))
      this.#problems.push(`the conflict clause of ${table} does not contain org_id`);
    if (assignsOrganization(conflict.targetList))
      this.#problems.push(`the conflict clause of ${table} changes org_id`);
  }

  #change(change: UpdateStmt | DeleteStmt, sources: Node[] | undefined, outer: Scope): readonly Output[] {
    const scope = new Scope(outer);
    this.#with(change.withClause, scope);
    const target = this.#target(change.relation);
    this.#used(change.relation, target);
    scope.relations.push(target);
    const affected = new Set([target, ...this.#from(sources, scope)]);
    const { relation: _relation, withClause: _with, ...rest } = change;
    const { fromClause: _from, usingClause: _using, ...expressions } = rest as UpdateStmt & DeleteStmt;
    this.#subqueriesOf(expressions, scope);
    if (
      this.#schema.distributed.has(change.relation?.relname ?? '') &&
      assignsOrganization(expressions.targetList)
    )
      this.#problems.push(`an update of ${change.relation?.relname} changes org_id`);
    this.#conditions(change.whereClause, scope, affected);
    return this.#returning(change, scope);
  }

  #returning(change: InsertStmt | UpdateStmt | DeleteStmt, scope: Scope): readonly Output[] {
    const exprs = change.returningClause?.exprs;
    this.#subqueriesOf(exprs, scope);
    return this.#outputs(exprs, scope);
  }

  #with(clause: WithClause | undefined, scope: Scope): void {
    for (const node of clause?.ctes ?? []) {
      if (!('CommonTableExpr' in node)) continue;
      const { ctename = '', ctequery, aliascolnames } = node.CommonTableExpr;
      if (!ctequery) continue;
      const names = namesOf(aliascolnames);
      if (clause?.recursive && 'SelectStmt' in ctequery && ctequery.SelectStmt.larg)
        this.#recursive(ctename, ctequery.SelectStmt, names, scope);
      else scope.ctes.set(ctename, this.#cte(this.#query(ctequery, scope), names));
    }
  }

  #cte(outputs: readonly Output[], names: readonly string[]): Cte {
    const relation = this.#fromOutputs('', outputs, names);
    return { columns: relation.columns ?? [], fact: relation.fact };
  }

  /** By induction: the first rows come from the first branch, and each later row from a row before it. */
  #recursive(name: string, { larg, rarg }: SelectStmt, names: readonly string[], scope: Scope): void {
    const first = this.#select(larg ?? {}, scope);
    const cte = this.#cte(first, names);
    const step = this.#table(name, cte.columns);
    const inner = new Scope(scope);
    inner.ctes.set(name, { columns: cte.columns, fact: step.fact });
    const next = this.#select(rarg ?? {}, inner);
    cte.columns.forEach((column, i) => {
      const preservedBy = next[i]?.premises ?? null;
      this.#rules.push({ conclusion: step.fact(column), premises: [cte.fact(column)], preservedBy });
    });
    // Outside, a column has supplied values if the rows of both branches do.
    const columns = cte.columns.map((column, i) => ({
      name: column,
      premises: both([cte.fact(column)], next[i]?.premises ?? null),
    }));
    scope.ctes.set(name, this.#cte(columns, []));
  }

  #from(items: readonly Node[] | undefined, scope: Scope): Affected {
    return new Set((items ?? []).flatMap((item) => [...this.#fromItem(item, scope)]));
  }

  #fromItem(item: Node, scope: Scope): Affected {
    if ('JoinExpr' in item) return this.#join(item.JoinExpr, scope);
    const relation = this.#relation(item, scope);
    scope.relations.push(relation);
    return new Set([relation]);
  }

  #join(join: JoinExpr, scope: Scope): Affected {
    if (join.isNatural || join.alias) throw new Error('natural joins and aliases of joins are not known');
    const left = join.larg ? this.#fromItem(join.larg, scope) : new Set<Relation>();
    const right = join.rarg ? this.#fromItem(join.rarg, scope) : new Set<Relation>();
    const all = new Set([...left, ...right]);
    const optional = { JOIN_INNER: all, JOIN_LEFT: right, JOIN_RIGHT: left };
    const affected = optional[join.jointype as keyof typeof optional] ?? new Set<Relation>();
    this.#subqueriesOf(join.quals, scope);
    this.#conditions(join.quals, scope, affected);
    for (const column of namesOf(join.usingClause)) {
      const [a, b] = [left, right].map((side) => [...side].find(({ columns }) => columns?.includes(column)));
      if (!a || !b) throw new Error(`the columns of a join by ${column} are not known`);
      if (affected.has(a)) this.#rule(a.fact(column), [b.fact(column)]);
      if (affected.has(b)) this.#rule(b.fact(column), [a.fact(column)]);
    }
    return all;
  }

  #relation(item: Node, scope: Scope): Relation {
    if ('RangeVar' in item) return this.#named(item.RangeVar, scope);
    if ('RangeFunction' in item) return this.#function(item.RangeFunction, scope);
    if ('RangeSubselect' in item) {
      const { lateral, subquery, alias } = item.RangeSubselect;
      const outputs = subquery ? this.#query(subquery, lateral ? scope : scope.around) : [];
      return this.#fromOutputs(alias?.aliasname ?? '', outputs, namesOf(alias?.colnames));
    }
    throw new Error(`${Object.keys(item)[0]} in FROM is not known`);
  }

  #named(range: RangeVar, scope: Scope): Relation {
    const name = range.relname ?? '';
    const cte = range.schemaname === undefined ? scope.cte(name) : undefined;
    if (cte) {
      this.#visited.add(range);
      const columns = cte.columns.map((column) => ({ name: column, premises: [cte.fact(column)] }));
      return this.#fromOutputs(aliasOf(range), columns, namesOf(range.alias?.colnames));
    }
    const relation = this.#target(range);
    this.#used(range, relation);
    return relation;
  }

  /** The table of a statement that changes it, and any other table. */
  #target(range: RangeVar | undefined): Relation {
    if (!range) throw new Error('a statement without a table');
    this.#visited.add(range);
    const columns = this.#schema.tables.get(range.relname ?? '');
    // The transition table of a trigger has the rows of the statement that fired it, and catalogs have no organizations.
    return columns ? this.#table(aliasOf(range), columns) : this.#supplied(aliasOf(range));
  }

  #used(range: RangeVar | undefined, relation: Relation): void {
    const table = range?.relname ?? '';
    if (this.#schema.distributed.has(table))
      this.#uses.push({ table, alias: relation.alias, fact: relation.fact('org_id') });
  }

  #function({ functions, alias, coldeflist, ordinality }: RangeFunction, scope: Scope): Relation {
    this.#subqueriesOf(functions, scope);
    const premises = this.#premises(functions, scope);
    const columns = columnsOfFunction(
      functions,
      alias?.colnames ?? coldeflist,
      ordinality === true && !alias?.colnames,
    );
    const relation = this.#table(alias?.aliasname ?? '', columns);
    const known = new Set<string>();
    const fact = (column: string) => {
      if (!known.has(column)) this.#rule(relation.fact(column), premises);
      known.add(column);
      return relation.fact(column);
    };
    return { ...relation, fact };
  }

  /** A relation all of whose values were supplied. */
  #supplied(alias: string): Relation {
    return this.#function({ alias: { aliasname: alias } }, new Scope());
  }

  #table(alias: string, columns: readonly string[] | undefined): Relation {
    this.#relations += 1;
    const number = this.#relations;
    const prefix = `${number}.`;
    return { alias, columns, fact: (column) => prefix + column, owns: (fact) => fact.startsWith(prefix) };
  }

  #fromOutputs(alias: string, outputs: readonly Output[], names: readonly string[]): Relation {
    const columns = outputs.map(({ name }, i) => names[i] ?? name);
    const relation = this.#table(alias, columns);
    outputs.forEach(({ premises }, i) => {
      this.#rule(relation.fact(columns[i] ?? ''), premises);
    });
    return relation;
  }

  #rule(conclusion: string, premises: Premises): void {
    if (premises) this.#rules.push({ conclusion, premises });
  }

  /** Conditions that must hold for a row of these relations to be used. */
  #conditions(condition: Node | undefined, scope: Scope, affected: Affected): void {
    for (const { left, right } of equalitiesOf(condition)) {
      const items = itemsOf(left);
      items.forEach((item, i) => {
        if (!('ColumnRef' in item)) return;
        const premises = items.length === 1 ? this.#premises(right, scope) : this.#nth(right, i);
        for (const fact of scope.resolve(pathOf(item.ColumnRef)) ?? [])
          if ([...affected].some((one) => one.owns(fact))) this.#rule(fact, premises);
      });
    }
  }

  /** The premises of a column of `(a, b) in (select ...)`. */
  #nth(right: Node, index: number): Premises {
    if (!('SubLink' in right)) return null;
    return this.#subqueries.get(right.SubLink)?.[index]?.premises ?? null;
  }

  #outputs(targets: readonly Node[] | undefined, scope: Scope): readonly Output[] {
    return (targets ?? []).flatMap((target) => {
      if (!('ResTarget' in target) || !target.ResTarget.val) return [];
      const { name, val } = target.ResTarget;
      const path = 'ColumnRef' in val ? pathOf(val.ColumnRef) : [];
      if (path.at(-1) === '*') return scope.star(path);
      return [{ name: name ?? nameOf(val), premises: this.#premises(val, scope) }];
    });
  }

  /** What an expression needs so that it has only supplied values. Its subqueries must have been visited. */
  #premises(expression: unknown, scope: Scope): Premises {
    if (typeof expression !== 'object' || expression === null) return [];
    let premises: Premises = [];
    for (const [key, value] of Object.entries(expression)) {
      let own: Premises;
      if (key === 'ColumnRef') own = scope.resolve(pathOf(value as ColumnRef));
      else if (key === 'SubLink') own = this.#subqueries.get(value as object)?.[0]?.premises ?? null;
      // A number of rows is a value of the database.
      else if (key === 'agg_star') own = null;
      else own = this.#premises(value, scope);
      premises = both(premises, own);
    }
    return premises;
  }

  /** Visits the subqueries of expressions; those inside of them are visited with them. */
  #subqueriesOf(expression: unknown, scope: Scope): void {
    if (typeof expression !== 'object' || expression === null) return;
    for (const [key, value] of Object.entries(expression)) {
      if (key !== 'SubLink') {
        this.#subqueriesOf(value, scope);
        continue;
      }
      const { subselect, testexpr } = value as SubLink;
      if (subselect && !this.#subqueries.has(value))
        this.#subqueries.set(value, this.#query(subselect, scope));
      this.#subqueriesOf(testexpr, scope);
    }
  }
}

const describe = (table: string, alias: string): string =>
  alias === table ? table : `${table} (as ${alias})`;
