import { useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { type List, useRead } from '../client/queries.ts';
import type { ApiProblem } from '../client/request.ts';
import type { Application } from '../generated/shapes.ts';

/** The page's application: `?app=` in the URL, else the last selected one, else the oldest active one. */
export interface SelectedApplication {
  readonly applications: readonly Application[];
  readonly selected: Application | undefined;
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
    // Without storage, only the URL holds the selection.
  }
}

export function useSelectedApplication(orgId: string): SelectedApplication {
  const { data, isLoading, problem, refresh } = useRead<List<Application>>('org/applications', {
    limit: 100,
  });
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const pathname = useLocation({ select: (location) => location.pathname });
  const applications = data?.data ?? [];
  const find = (id: string | null | undefined) => applications.find((application) => application.id === id);
  const last = find(remembered(orgId));
  const selected =
    find(search.app) ??
    (last?.status === 'active' ? last : undefined) ??
    applications.findLast(({ status }) => status === 'active') ??
    applications.at(-1);
  const appId = selected?.id;
  useEffect(() => {
    if (appId === undefined) return;
    remember(orgId, appId);
    // The URL always names the application, so that a copied link opens the same page for another person.
    if (search.app !== appId) {
      void navigate({
        // Not '.': on an unknown path that would navigate away from the not-found page.
        to: pathname,
        search: { ...search, app: appId },
        replace: true,
        state: true,
        resetScroll: false,
      });
    }
  }, [orgId, appId, pathname, search, navigate]);
  return { applications, selected, isLoading, problem, refresh };
}
