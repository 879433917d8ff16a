/** What the clients of a journey know: only what they were told. */
import type { App, Body, Told } from './journey-client.ts';

export type Kind = 'payment' | 'refund' | 'dispute' | 'transfer';

export interface Known {
  readonly kind: Kind;
  readonly id: string;
  readonly organization: string;
  /** As it was shown last; of a dispute that the clock opened nothing but its id is known at first. */
  seen: Body;
}

/** Chance, the same for the same seed. */
export class Dice {
  readonly chance: () => number;

  constructor(chance: () => number) {
    this.chance = chance;
  }

  /** From 0 to below. */
  below(count: number): number {
    return Math.floor(this.chance() * count);
  }

  between(first: number, last: number): number {
    return first + this.below(last - first + 1);
  }

  isOne(of: number): boolean {
    return this.below(of) === 0;
  }

  one<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('a choice among nothing');
    return item;
  }
}

const ALIVE: Readonly<Record<Kind, (seen: Body) => boolean>> = {
  payment: ({ allowedActions }) => allowedActions === undefined || allowedActions.length > 0,
  refund: ({ status }) => status === undefined || status === 'pending',
  dispute: ({ status }) => status === undefined || !/won|lost/.test(status),
  transfer: ({ allowedActions }) => allowedActions === undefined || allowedActions.length > 0,
};

export class World {
  readonly apps: readonly App[];
  readonly told: Told[] = [];
  readonly #known = new Map<string, Known>();
  readonly #clocks = new Map<
    App,
    { readonly now: number; readonly isFrozen: boolean; readonly at: number }
  >();

  constructor(apps: readonly App[]) {
    this.apps = apps;
  }

  /** A record of the kind, mostly one that still has a way to go; undefined while there is none. */
  pick(kind: Kind, dice: Dice): Known | undefined {
    const all = [...this.#known.values()].filter((known) => known.kind === kind);
    const alive = all.filter(({ seen }) => ALIVE[kind](seen));
    const among = alive.length > 0 && !dice.isOne(12) ? alive : all;
    return among.length === 0 ? undefined : dice.one(among);
  }

  /** An application that may move the record: any of its organization. */
  mover({ organization }: Known, dice: Dice): App {
    return dice.one(this.apps.filter((app) => app.organization === organization));
  }

  /** What time it is for an application, as far as its clients know. */
  now(app: App): number {
    const clock = this.#clocks.get(app);
    if (!clock) return Date.now();
    return clock.isFrozen ? clock.now : clock.now + Date.now() - clock.at;
  }

  remember(told: Told): void {
    this.told.push(told);
    const { answer, app } = told;
    if (told.status >= 300) return;
    if (answer.object === 'clock') {
      this.#clocks.set(app, {
        now: Date.parse(answer.now),
        isFrozen: answer.status === 'frozen',
        at: told.answeredAt,
      });
      for (const { type, id } of answer.happened ?? [])
        if (type === 'dispute') this.#learn(type, id, app, {});
      return;
    }
    this.#learn(answer.object, answer.id, app, answer);
    if (answer.object === 'payment' && answer.disputeId) this.#learn('dispute', answer.disputeId, app, {});
  }

  #learn(kind: Kind, id: string, { organization }: App, seen: Body): void {
    const known = this.#known.get(id);
    if (!known) this.#known.set(id, { kind, id, organization, seen });
    else if ((seen.version ?? 0) > (known.seen.version ?? 0)) known.seen = seen;
  }
}
