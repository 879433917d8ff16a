import type { LimitName } from '../generated/shapes.ts';

/** The server's limits. There are none until it has responded; it checks them in any case. */
export type Limits = Readonly<Partial<Record<LimitName, number>>>;
