import type { Id } from '../../kernel/ids.ts';
import { defineTable } from '../../kernel/table.ts';

/** The kinds of items that tests can cover: record states, moves, emitted events, API operations and error codes. */
export const coverageKinds = ['state', 'move', 'event', 'operation', 'error'] as const;
export type CoverageKind = (typeof coverageKinds)[number];

/** How often an organization has covered an item. */
export interface CoverageRow {
  readonly orgId: Id<'organization'>;
  readonly kind: CoverageKind;
  readonly name: string;
  readonly met: bigint;
}

export const coverageTable = defineTable<CoverageRow>('coverage', ['org_id', 'kind', 'name'], {
  orgId: 'text',
  kind: 'text',
  name: 'text',
  met: 'bigint',
});

/** All coverage rows of an organization, for deletion. */
export const forgottenTable = defineTable<Pick<CoverageRow, 'orgId'>>('coverage', ['org_id'], {
  orgId: 'text',
});

/** Records the coverage by the API keys of an organization. It never blocks and never fails. */
export interface CoverageSink {
  answered(orgId: Id<'organization'>, operation: string, status: number, errorCode: string | null): void;
}
