import {
  keepPreviousData,
  QueryClient,
  type QueryKey,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { IdempotencyKey } from './idempotency.ts';
import {
  type ApiProblem,
  asProblem,
  get,
  isReachable,
  noScope,
  type Path,
  post,
  type Query,
  type Scope,
} from './request.ts';
import { useScope } from './scope.ts';
import { nextPage, type Page, previousPage } from './search-params.ts';
import type { List, Session } from './shapes.ts';

declare module '@tanstack/react-query' {
  interface Register {
    defaultError: ApiProblem;
  }
}
declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The cursors of the pages before this one: the API only knows the next page, so the way back is remembered. */
    cursors?: string[] | undefined;
  }
}

const readAttemptsMax = 3;
const rowsPerPage = 25;

/** Keys are [base, orgId, appId, path, query], so that a prefix names all that one organization or application shows. */
export const keys = {
  session: ['session'] as const,
  organization: (orgId: string) => ['org', orgId] as const,
  application: (orgId: string, appId: string) => ['app', orgId, appId] as const,
  read: (path: Path, scope: Scope, query: Query = {}): QueryKey => {
    if (path.startsWith('app/')) return ['app', scope.orgId, scope.appId, path, query];
    if (path.startsWith('org/')) return ['org', scope.orgId, path, query];
    return ['session', path, query];
  },
};

/** What an answer never changes while the server runs; `static` keeps it through every invalidation. */
const fixed: readonly Path[] = ['app/developer_api_capabilities', 'app/developer_api_state_machines'];

export function createQueryClient(onSessionMissing: (client: QueryClient) => void): QueryClient {
  const client: QueryClient = new QueryClient({
    defaultOptions: {
      queries: {
        // A local server answers without the internet: never wait for the browser to feel online.
        networkMode: 'always',
        staleTime: 5_000,
        refetchOnWindowFocus: true,
        retry: (count, problem) =>
          count + 1 < readAttemptsMax && (problem.status === 0 || problem.status >= 500),
      },
      // What was written may hold a password, and an answer a secret: neither stays behind.
      mutations: { networkMode: 'always', retry: false, gcTime: 0 },
    },
  });
  const watch = (error: unknown) => {
    const { code } = asProblem(error);
    if (code === 'session_missing') onSessionMissing(client);
    // Perhaps not the record is gone but the person's place in the organization: the session says so.
    if (code === 'resource_not_found') void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
  };
  client.getQueryCache().config.onError = watch;
  client.getMutationCache().config.onError = watch;
  return client;
}

export interface Read<T> {
  readonly data: T | undefined;
  readonly problem: ApiProblem | null;
  /** No data yet: show a Skeleton. */
  readonly isLoading: boolean;
  /** Data is shown and newer data is on its way; of what is asked again every so often, only when it is other data. */
  readonly isRefreshing: boolean;
  readonly refresh: () => void;
}

export interface ReadOptions {
  readonly isEnabled?: boolean;
  /** Ask again every so often, for what changes by itself. */
  readonly everyMs?: number;
  /** Show the last answer while another query loads, as lists and charts do. */
  readonly keepsPrevious?: boolean;
}

/** `const { data, problem, isLoading } = useRead<Payment>(`app/developer_api_payments/${id}`)`. */
export function useRead<T>(path: Path, query: Query = {}, options: ReadOptions = {}): Read<T> {
  const scope = useScope();
  const result = useQuery<T>({
    queryKey: keys.read(path, scope, query),
    queryFn: ({ signal }) => get<T>(path, query, scope, signal),
    enabled: isReachable(path, scope) && (options.isEnabled ?? true),
    ...(fixed.includes(path) ? { staleTime: 'static' as const } : {}),
    ...(options.everyMs === undefined ? {} : { refetchInterval: options.everyMs }),
    ...(options.keepsPrevious ? { placeholderData: keepPreviousData } : {}),
  });
  return {
    data: result.data,
    problem: result.error,
    isLoading: result.isPending && result.fetchStatus !== 'idle',
    // A table that grows pale every few seconds is hard to read.
    isRefreshing:
      options.everyMs === undefined ? result.isFetching && !result.isPending : result.isPlaceholderData,
    refresh: () => void result.refetch(),
  };
}

export interface Paging {
  readonly hasPrevious: boolean;
  readonly hasNext: boolean;
  readonly isBusy: boolean;
  readonly onFirst: () => void;
  readonly onPrevious: () => void;
  readonly onNext: () => void;
}

export interface Listing<T> extends Read<List<T>> {
  readonly rows: readonly T[];
  /** `<Pager {...list.paging} />`. */
  readonly paging: Paging;
}

/**
 * One page of a list. The cursor lives in the URL, so a page can be linked and the browser's Back works; `name` tells
 * two lists on one page apart.
 */
export function useList<T>(
  path: Path,
  filters: Query = {},
  options: ReadOptions & { limit?: number; name?: string } = {},
): Listing<T> {
  const name = options.name ?? 'cursor';
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false });
  const cursors = useLocation({ select: (location) => location.state.cursors }) ?? [];
  const navigate = useNavigate();
  const cursor = search[name];
  const query = { ...filters, limit: options.limit ?? rowsPerPage, cursor };
  const read = useRead<List<T>>(path, query, { keepsPrevious: true, ...options });
  const page: Page = { cursor, previous: cursors };
  const go = (to: Page) =>
    void navigate({
      to: '.',
      search: { ...search, [name]: to.cursor },
      state: { cursors: to.previous },
      resetScroll: false,
    });
  const next = read.data?.nextCursor ?? undefined;
  return {
    ...read,
    rows: read.data?.data ?? [],
    paging: {
      hasPrevious: cursor !== undefined,
      hasNext: read.data?.hasMore === true && next !== undefined,
      isBusy: read.isRefreshing,
      onFirst: () => go({ cursor: undefined, previous: [] }),
      onPrevious: () => go(previousPage(page)),
      onNext: () => go(nextPage(page, next)),
    },
  };
}

export interface Write<Answer, Body> {
  /** Resolves with the answer, or with undefined after a refusal, which is then in `problem`. */
  readonly write: (body: Body, path?: Path) => Promise<Answer | undefined>;
  readonly isBusy: boolean;
  readonly problem: ApiProblem | null;
  readonly answer: Answer | undefined;
  /** Forgets problem, answer and key: call it when a form is opened anew. */
  readonly reset: () => void;
}

/**
 * A write with its Idempotency-Key. The same body sent again after an unclear outcome (no answer, 5xx, 429) carries the
 * same key, so it can never happen twice; an edit, a success or a clear refusal starts a new key. Afterwards everything
 * the organization shows is asked again, because one write moves many records (ledger, events, deliveries, audit).
 */
export function useWrite<Answer, Body = unknown>(
  path: Path,
  options: { readonly onDone?: (answer: Answer) => void } = {},
): Write<Answer, Body> {
  const scope = useScope();
  const client = useQueryClient();
  const [key] = useState(() => new IdempotencyKey());
  const mutation = useMutation<Answer, ApiProblem, { body: Body; path: Path }>({
    mutationFn: async ({ body, path: target }) => {
      const idempotencyKey = key.of(target, body);
      try {
        const answer = await post<Answer>(target, body, idempotencyKey, scope);
        key.settle();
        return answer;
      } catch (thrown) {
        const problem = asProblem(thrown);
        key.settle(problem);
        throw problem;
      }
    },
    onSuccess: async (answer, { path: target }) => {
      options.onDone?.(answer);
      await invalidate(client, target, scope);
    },
  });
  return {
    write: (body, target = path) => mutation.mutateAsync({ body, path: target }).catch(() => undefined),
    isBusy: mutation.isPending,
    problem: mutation.error,
    answer: mutation.data,
    reset: () => {
      key.settle();
      mutation.reset();
    },
  };
}

function invalidate(client: QueryClient, path: Path, { orgId, appId }: Scope): Promise<unknown> {
  if (path.startsWith('session') || orgId === null)
    return client.invalidateQueries({ queryKey: keys.session });
  const organization = client.invalidateQueries({ queryKey: keys.organization(orgId) });
  if (appId === null) return organization;
  return Promise.all([organization, client.invalidateQueries({ queryKey: keys.application(orgId, appId) })]);
}

/** For the rare call outside a form or a read, bound to the page's organization and application. */
export function useClient() {
  const scope = useScope();
  return useMemo(
    () => ({
      get: <T>(path: Path, query: Query = {}) => get<T>(path, query, scope),
      post: <T>(path: Path, body: unknown, key: string = crypto.randomUUID()) =>
        post<T>(path, body, key, scope),
    }),
    [scope],
  );
}

/** The session lives outside every scope. */
export const sessionQuery = {
  queryKey: keys.read('session', noScope),
  queryFn: ({ signal }: { signal: AbortSignal }) => get<Session>('session', {}, noScope, signal),
  staleTime: 60_000,
};
