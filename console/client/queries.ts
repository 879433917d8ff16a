import {
  keepPreviousData,
  QueryClient,
  type QueryKey,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import { type RefObject, useRef, useState } from 'react';
import type { PaymentList, Session } from '../generated/shapes.ts';
import { useHeldRows } from './held-rows.ts';
import { IdempotencyKey } from './idempotency.ts';
import { usePaused } from './paused.ts';
import {
  type ApiProblem,
  type ApiRequest,
  asProblem,
  get,
  isReachable,
  noScope,
  type Path,
  post,
  type Query,
  type Scope,
  writeRequest,
} from './request.ts';
import { useScope } from './scope.ts';
import { nextPage, type Page, previousPage } from './search-params.ts';

declare module '@tanstack/react-query' {
  interface Register {
    defaultError: ApiProblem;
  }
}
declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Cursors of the previous pages: the API returns only the next cursor, so going back needs a history. */
    cursors?: string[] | undefined;
  }
}

/** A page of any list: the API has one response type for each kind of item. */
export type List<Item> = Omit<PaymentList, 'data'> & { readonly data: readonly Item[] };

const readAttemptsMax = 3;
const rowsPerPage = 25;

/** Keys are [base, orgId, appId, path, query]: a prefix selects all queries of an organization or application. */
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

/** Responses that never change while the server runs; `static` exempts them from every invalidation. */
const staticPaths: readonly Path[] = ['app/developer_api_capabilities', 'app/developer_api_state_machines'];

export function createQueryClient(onSessionMissing: (client: QueryClient) => void): QueryClient {
  const client: QueryClient = new QueryClient({
    defaultOptions: {
      queries: {
        // A local server responds without internet access: do not wait until the browser reports that it is online.
        networkMode: 'always',
        staleTime: 5_000,
        refetchOnWindowFocus: true,
        retry: (count, problem) =>
          count + 1 < readAttemptsMax && (problem.status === 0 || problem.status >= 500),
      },
      // Request bodies may contain a password and responses a secret: do not cache either.
      mutations: { networkMode: 'always', retry: false, gcTime: 0 },
    },
  });
  const watch = (error: unknown) => {
    const { code } = asProblem(error);
    if (code === 'session_missing') onSessionMissing(client);
    // The record may still exist and the person's membership or access may be gone: reload the session to find out.
    if (code === 'resource_not_found' || code === 'two_factor_required')
      void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
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
  /** The shown data belongs to the previous query, and that of the new one is loading. */
  readonly isRefreshing: boolean;
  readonly refresh: () => void;
}

export interface ReadOptions {
  readonly isEnabled?: boolean;
  /** Polling interval, for data that changes on the server. */
  readonly everyMs?: number;
  /** Show the previous response while another query loads, for lists and charts. */
  readonly keepPreviousData?: boolean;
}

/** `const { data, problem, isLoading } = useRead<Payment>(`app/developer_api_payments/${id}`)`. */
export function useRead<T>(path: Path, query: Query = {}, options: ReadOptions = {}): Read<T> {
  const scope = useScope();
  const isPaused = usePaused();
  const result = useQuery<T>({
    queryKey: keys.read(path, scope, query),
    queryFn: ({ signal }) => get<T>(path, query, scope, signal),
    enabled: isReachable(path, scope) && (options.isEnabled ?? true),
    ...(staticPaths.includes(path) ? { staleTime: 'static' as const } : {}),
    ...(options.everyMs === undefined || isPaused ? {} : { refetchInterval: options.everyMs }),
    ...(options.keepPreviousData ? { placeholderData: keepPreviousData } : {}),
  });
  return {
    data: result.data,
    problem: result.error,
    isLoading: result.isPending && result.fetchStatus !== 'idle',
    // Not while the same query is read again: a table that fades whenever something happens is hard to read.
    isRefreshing: result.isPlaceholderData,
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

export interface PagedList<T> extends Read<List<T>> {
  readonly rows: readonly T[];
  /** Identifies the list, its filters and the page. */
  readonly query: string;
  /**
   * Rows that arrived while the person was reading further down the list. Only a list with `<NewRows {...list} />` holds rows
   * back, which marks its top with `top`; `<Table list={list}>` has one.
   */
  readonly newCount: number;
  readonly showNew: () => void;
  readonly top: RefObject<HTMLDivElement | null>;
  /** `<Pager {...list.paging} />`. */
  readonly paging: Paging;
}

/**
 * One page of a list. The cursor lives in the URL, so a page can be linked and the browser's Back works; `name` is the
 * URL parameter, which differs between two lists on one page.
 */
export function useList<T>(
  path: Path,
  filters: Query = {},
  options: ReadOptions & { limit?: number; name?: string } = {},
): PagedList<T> {
  const name = options.name ?? 'cursor';
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false });
  const cursors = useLocation({ select: (location) => location.state.cursors }) ?? [];
  const navigate = useNavigate();
  const cursor = search[name];
  const query = { ...filters, limit: options.limit ?? rowsPerPage, cursor };
  const read = useRead<List<T>>(path, query, { keepPreviousData: true, ...options });
  const page: Page = { cursor, previous: cursors };
  const go = (to: Page) =>
    void navigate({
      to: '.',
      search: { ...search, [name]: to.cursor },
      state: { cursors: to.previous },
      resetScroll: false,
    });
  const next = read.data?.nextCursor ?? undefined;
  const key = JSON.stringify([path, query]);
  const top = useRef<HTMLDivElement>(null);
  const { rows, newCount } = useHeldRows(key, read.data?.data ?? [], rowKey, read.isRefreshing, top);
  return {
    ...read,
    rows,
    query: key,
    newCount,
    showNew: () => top.current?.scrollIntoView(),
    top,
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

function rowKey(row: unknown): string {
  return String((row as { id?: string }).id ?? JSON.stringify(row));
}

export interface Write<Result, Body> {
  /** Resolves with the response, or with undefined after an error, which is then in `problem`. */
  readonly write: (body: Body, path?: Path) => Promise<Result | undefined>;
  /** The request that `write(body)` sends, for its code; null without a body. */
  readonly request: (body: Body | undefined) => ApiRequest | null;
  readonly isBusy: boolean;
  readonly problem: ApiProblem | null;
  readonly response: Result | undefined;
  /** Clears problem, response and key: call it when a form opens again. */
  readonly reset: () => void;
}

/**
 * A write with its Idempotency-Key. Retrying the same body after an unknown outcome (no response, 5xx, 429) sends the
 * same key, so the server runs it once; an edit, a success or a definite error starts a new key. After a success every
 * query of the organization is refetched, because one write changes many records (ledger, events, deliveries, audit).
 */
export function useWrite<Result, Body = unknown>(
  path: Path,
  options: {
    readonly onDone?: (result: Result) => void;
    /** For writes without a form or banner that would show `problem`. */
    readonly onFailed?: (problem: ApiProblem) => void;
  } = {},
): Write<Result, Body> {
  const scope = useScope();
  const client = useQueryClient();
  const [key] = useState(() => new IdempotencyKey());
  const mutation = useMutation<Result, ApiProblem, { body: Body; path: Path }>({
    mutationFn: async ({ body, path: target }) => {
      const idempotencyKey = key.of(target, body);
      try {
        const result = await post<Result>(target, body, idempotencyKey, scope);
        key.settle();
        return result;
      } catch (thrown) {
        const problem = asProblem(thrown);
        key.settle(problem);
        throw problem;
      }
    },
    onError: (problem) => options.onFailed?.(problem),
    onSuccess: async (result, { path: target }) => {
      options.onDone?.(result);
      await invalidate(client, target, scope);
    },
  });
  return {
    write: (body, target = path) => mutation.mutateAsync({ body, path: target }).catch(() => undefined),
    request: (body) => (body === undefined ? null : writeRequest(path, body)),
    isBusy: mutation.isPending,
    problem: mutation.error,
    response: mutation.data,
    reset: () => {
      key.settle();
      mutation.reset();
    },
  };
}

function invalidate(client: QueryClient, path: Path, scope: Scope): Promise<unknown> {
  if (path.startsWith('session') || scope.orgId === null)
    return client.invalidateQueries({ queryKey: keys.session });
  return refetchOrganization(client, scope);
}

/** Reads everything that is shown of the organization and the application again. */
export async function refetchOrganization(client: QueryClient, { orgId, appId }: Scope): Promise<void> {
  if (orgId === null) return;
  const organization = client.invalidateQueries({ queryKey: keys.organization(orgId) });
  await (appId === null
    ? organization
    : Promise.all([organization, client.invalidateQueries({ queryKey: keys.application(orgId, appId) })]));
}

/** The session belongs to no organization or application. */
export const sessionQuery = {
  queryKey: keys.read('session', noScope),
  queryFn: ({ signal }: { signal: AbortSignal }) => get<Session>('session', {}, noScope, signal),
  staleTime: 60_000,
  // Each response is a new value: a session that ended twice opens the sign-in form twice.
  structuralSharing: false,
};
