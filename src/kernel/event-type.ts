import type { TSchema } from 'typebox';
import type { Presented } from './envelope.ts';

/** A kind of event: what it tells of, and how the record in it looks. */
export interface EventType {
  readonly type: string;
  readonly resource: string;
  /** One sentence: what has happened when it is sent. */
  readonly description: string;
  /** The `data` of an event of this type. */
  readonly example: Presented;
  /** The whole event with that `data`, as a receiver gets it. */
  readonly payload: Presented & { readonly data: Presented };
  /** The schema of its `data`. */
  readonly schema: TSchema;
}
