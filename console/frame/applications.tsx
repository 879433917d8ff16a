import { useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useRead } from '../client/queries.ts';
import type { ApiProblem } from '../client/request.ts';
import type { Application, List } from '../client/shapes.ts';

/** Which application a page is about: `?app=` in the URL, else the one last chosen here, else the oldest active one. */
export interface ChosenApplication {
  readonly applications: readonly Application[];
  readonly chosen: Application | undefined;
  readonly isLoading: boolean;
  readonly problem: ApiProblem | null;
  readonly refresh: () => void;
}

const storageKey = (orgId: string) => `sandbank.application.${orgId}`;

function remembered(orgId: string): string | null {
  try {
    return localStorage.getItem(storageKey(orgId));
  } catch {
    return null;
  }
}

function remember(orgId: string, appId: string): void {
  try {
    localStorage.setItem(storageKey(orgId), appId);
  } catch {
    // Without storage the choice lives in the URL alone.
  }
}

export function useChosenApplication(orgId: string): ChosenApplication {
  const { data, isLoading, problem, refresh } = useRead<List<Application>>('org/applications', {
    limit: 100,
  });
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const pathname = useLocation({ select: (location) => location.pathname });
  const applications = data?.data ?? [];
  const find = (id: string | null | undefined) => applications.find((application) => application.id === id);
  const last = find(remembered(orgId));
  const chosen =
    find(search.app) ??
    (last?.status === 'active' ? last : undefined) ??
    applications.findLast(({ status }) => status === 'active') ??
    applications.at(-1);
  const appId = chosen?.id;
  useEffect(() => {
    if (appId === undefined) return;
    remember(orgId, appId);
    // The URL always names the application, so that a copied link shows the same to somebody else.
    if (search.app !== appId) {
      void navigate({
        // Not '.': from an address that no page has, that would lead away from saying so.
        to: pathname,
        search: { ...search, app: appId },
        replace: true,
        state: true,
        resetScroll: false,
      });
    }
  }, [orgId, appId, pathname, search, navigate]);
  return { applications, chosen, isLoading, problem, refresh };
}
