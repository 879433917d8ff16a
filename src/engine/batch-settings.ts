import type { AnyResource } from '../kernel/command.ts';
import type { Presented } from '../kernel/envelope.ts';
import type { Provider } from '../kernel/provider.ts';
import type { LedgerEntryRow } from '../resources/ledger/table.ts';
import type { Committed } from './batch-trail.ts';
import type { IdGenerator } from './id-generator.ts';
import type { Vault } from './vault.ts';

export interface BatchSettings {
  readonly resources: ReadonlyMap<string, AnyResource>;
  readonly providers: ReadonlyMap<string, Provider>;
  /** Renders a ledger entry in the response of the command that posted it. */
  readonly presentEntry: (row: LedgerEntryRow) => Presented;
  /** The URL of the errors page; error bodies link to it. */
  readonly docsUrl: () => string;
  readonly onBug: (error: unknown, requestId: string) => void;
  /** Encrypts the stored responses that contain a secret. */
  readonly vault: Vault;
  readonly idGenerator: IdGenerator;
  /** Called after the commit with the rows that the batch has written. */
  readonly onCommit?: (committed: Committed) => void;
}

/**
 * How a batch treats the responses stored for its keys: it queries them, or trusts that there are none. A trusting batch also
 * uses the cached clocks of this node; otherwise it reads and locks them.
 */
export type Priors = 'query' | 'trust-none';
