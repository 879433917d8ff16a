/** What a list answers with: one page. */
export interface Page {
  readonly data: readonly unknown[];
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
}

export type ItemOf<P extends Page> = P extends { readonly data: readonly (infer Item)[] } ? Item : never;

const itemsMaxDefault = 10_000;

/**
 * A list that was asked for. `await` gives its first page; `for await` goes over the items of all pages, and asks for the next
 * page when it gets there. Nothing is sent before one of the two.
 */
export class Pages<P extends Page> implements PromiseLike<P>, AsyncIterable<ItemOf<P>> {
  readonly #load: (cursor: string | undefined) => Promise<P>;
  #first: Promise<P> | undefined;

  constructor(load: (cursor: string | undefined) => Promise<P>) {
    this.#load = load;
  }

  // biome-ignore lint/suspicious/noThenProperty: a list is awaited for its first page.
  then<A = P, B = never>(
    onDone?: ((page: P) => A | PromiseLike<A>) | null,
    onFailed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#begin().then(onDone, onFailed);
  }

  catch<B = never>(onFailed?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<P | B> {
    return this.#begin().catch(onFailed);
  }

  finally(onEnd?: (() => void) | null): Promise<P> {
    return this.#begin().finally(onEnd);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ItemOf<P>, void, undefined> {
    for await (const page of this.pages()) yield* page.data as readonly ItemOf<P>[];
  }

  /** Page by page. */
  async *pages(): AsyncGenerator<P, void, undefined> {
    let page = await this.#begin();
    for (;;) {
      yield page;
      const { hasMore, nextCursor } = page;
      if (!hasMore || nextCursor === null) return;
      page = await this.#load(nextCursor);
      if (page.nextCursor === nextCursor) throw new Error('The server gave the same cursor twice.');
    }
  }

  /** All items at once. A list that has more than `itemsMax` is refused, so that no test reads for hours. */
  async toArray({ itemsMax = itemsMaxDefault }: { readonly itemsMax?: number } = {}): Promise<ItemOf<P>[]> {
    const items: ItemOf<P>[] = [];
    for await (const item of this) {
      if (items.length === itemsMax)
        throw new RangeError(
          `The list has more than ${itemsMax} items. Narrow it, raise itemsMax, or go over it with for await.`,
        );
      items.push(item);
    }
    return items;
  }

  #begin(): Promise<P> {
    this.#first ??= this.#load(undefined);
    return this.#first;
  }
}
