/** One page of a list. */
export interface Page {
  readonly data: readonly unknown[];
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
}

export type ItemOf<P extends Page> = P extends { readonly data: readonly (infer Item)[] } ? Item : never;

const itemsMaxDefault = 10_000;

/**
 * A lazily loaded list. `await` returns its first page; `for await` iterates over the items of all pages and loads each page when
 * it is needed. No request is sent before one of the two.
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

  /** Iterates over the pages. */
  async *pages(): AsyncGenerator<P, void, undefined> {
    let page = await this.#begin();
    for (;;) {
      yield page;
      const { hasMore, nextCursor } = page;
      if (!hasMore || nextCursor === null) return;
      page = await this.#load(nextCursor);
      if (page.nextCursor === nextCursor) throw new Error('The server returned the same cursor twice.');
    }
  }

  /** Loads all items. Throws if there are more than `itemsMax`, so that a test does not read for hours. */
  async toArray({ itemsMax = itemsMaxDefault }: { readonly itemsMax?: number } = {}): Promise<ItemOf<P>[]> {
    const items: ItemOf<P>[] = [];
    for await (const item of this) {
      if (items.length === itemsMax)
        throw new RangeError(
          `The list has more than ${itemsMax} items. Use a filter, raise itemsMax, or iterate with for await.`,
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
