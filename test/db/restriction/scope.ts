import type { Premises } from './rules.ts';

const systemColumns: ReadonlySet<string> = new Set(['ctid', 'xmin', 'tableoid']);

/** An item of a FROM clause, under its alias. */
export interface Relation {
  readonly alias: string;
  /** Undefined when the names are unknown, such as the columns of a function that returns a record. */
  readonly columns: readonly string[] | undefined;
  readonly fact: (column: string) => string;
  readonly owns: (fact: string) => boolean;
}

export interface Output {
  readonly name: string;
  readonly premises: Premises;
}

/** The columns of a common table expression. */
export interface Cte {
  readonly columns: readonly string[];
  readonly fact: (column: string) => string;
}

/** The relations that an expression can name: those of its query, then those of the queries around it. */
export class Scope {
  readonly relations: Relation[] = [];
  readonly ctes = new Map<string, Cte>();
  readonly #outer: Scope | undefined;
  readonly #isVariable: (name: string) => boolean;

  constructor(outer?: Scope, isVariable: (name: string) => boolean = () => false) {
    this.#outer = outer;
    this.#isVariable = isVariable;
  }

  cte(name: string): Cte | undefined {
    return this.ctes.get(name) ?? this.#outer?.cte(name);
  }

  /** A query in FROM without `lateral` sees the queries around it, but not its neighbours. */
  get around(): Scope {
    const scope = new Scope(this.#outer);
    for (const [name, cte] of this.ctes) scope.ctes.set(name, cte);
    return scope;
  }

  relation(alias: string): Relation | undefined {
    return this.relations.find((one) => one.alias === alias) ?? this.#outer?.relation(alias);
  }

  /** The fact of a column; an empty list for a variable of a function. */
  resolve(path: readonly string[]): Premises {
    const column = path.at(-1) ?? '';
    if (path.length > 1) {
      const relation = this.relation(path.at(-2) ?? '');
      if (relation) return [relation.fact(column)];
      if (this.#knows(path[0] ?? '')) return [];
      throw new Error(`${path.join('.')} names no relation`);
    }
    const owners = this.#owners(column);
    // Several own the column of a join by `using`.
    if (owners.length > 0) return owners.map((owner) => owner.fact(column));
    // A name of a relation alone is its whole row.
    if (this.relation(column)) return null;
    if (this.#knows(column)) return [];
    throw new Error(`${column} is a column of no relation`);
  }

  /** The columns of `*` or `alias.*`. */
  star(path: readonly string[]): readonly Output[] {
    const one = path.length > 1 ? this.relation(path[0] ?? '') : undefined;
    return (one ? [one] : this.relations).flatMap(({ columns, fact, alias }) => {
      if (!columns) throw new Error(`the columns of ${alias} are not known`);
      return columns.map((name) => ({ name, premises: [fact(name)] }));
    });
  }

  #knows(name: string): boolean {
    return this.#isVariable(name) || (this.#outer ? this.#outer.#knows(name) : false);
  }

  #owners(column: string): readonly Relation[] {
    // Every table has the system columns.
    const having = this.relations.filter(
      ({ columns }) => columns?.includes(column) || (columns && systemColumns.has(column)),
    );
    if (having.length > 0) return having;
    const open = this.relations.filter(({ columns }) => columns === undefined);
    return open.length === 1 || this.#outer === undefined ? open : this.#outer.#owners(column);
  }
}
