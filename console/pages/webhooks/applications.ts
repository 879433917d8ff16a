import { useRead } from '../../client/queries.ts';
import { useScope } from '../../client/scope.ts';
import type { Application, List } from '../../client/shapes.ts';

/** The same question as the frame asks, so it is answered from memory. */
export function useApplications(): readonly Application[] {
  return useRead<List<Application>>('org/applications', { limit: 100 }).data?.data ?? [];
}

export function useCurrentApplication(): Application | undefined {
  const { appId } = useScope();
  return useApplications().find(({ id }) => id === appId);
}

/** Every application of an organization sees its records, so a page may show what another one owns. */
export function ownerName(applications: readonly Application[], id: string): string {
  return applications.find((application) => application.id === id)?.name ?? id;
}
