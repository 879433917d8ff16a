import type { TSchema } from 'typebox';
import type { Presented } from './envelope.ts';

/** A kind of event: what it tells of, and how the record in it looks. */
export interface EventType {
  readonly type: string;
  readonly resource: string;
  /** One sentence: when it is sent. */
  readonly description: string;
  /** The `data` of an event of this type. */
  readonly example: Presented;
  /** The schema of its `data`. */
  readonly schema: TSchema;
}
