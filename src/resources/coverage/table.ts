import { defineTable } from '../../kernel/table.ts';

/** What can be met: where records can be, how they get there, what is told of it, what can be called and what can go wrong. */
export const coverageKinds = ['state', 'move', 'event', 'operation', 'error'] as const;
export type CoverageKind = (typeof coverageKinds)[number];

/** How often an organization has met something. */
export interface CoverageRow {
  readonly orgId: string;
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

/** All that an organization has met, to be forgotten. */
export const forgottenTable = defineTable<Pick<CoverageRow, 'orgId'>>('coverage', ['org_id'], {
  orgId: 'text',
});

/** Where it is noted what the keys of an organization have met. It never waits and never fails. */
export interface CoverageSink {
  answered(orgId: string, operation: string, status: number, errorCode: string | null): void;
}
