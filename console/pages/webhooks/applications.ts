import { type List, useRead } from '../../client/queries.ts';
import { useScope } from '../../client/scope.ts';
import type { Application } from '../../generated/shapes.ts';

/** The layout's query, so the response comes from the cache. */
export function useApplications(): readonly Application[] {
  return useRead<List<Application>>('org/applications', { limit: 100 }).data?.data ?? [];
}

export function useCurrentApplication(): Application | undefined {
  const { appId } = useScope();
  return useApplications().find(({ id }) => id === appId);
}

/** All applications of an organization share their records, so a page may show another application's. */
export function ownerName(applications: readonly Application[], id: string): string {
  return applications.find((application) => application.id === id)?.name ?? id;
}
