import { type List, useRead } from '../../client/queries.ts';
import type { ListedApiKey } from '../../generated/shapes.ts';

const pollMs = 4_000;

export interface StartProgress {
  readonly hasKey: boolean | undefined;
  readonly hasPayment: boolean | undefined;
  readonly hasWebhook: boolean | undefined;
  readonly hasDelivery: boolean | undefined;
}

/** Which steps are complete. Polled until they are, so that a mark appears while the person works in a terminal. */
export function useProgress(): StartProgress {
  const keys = useRead<List<ListedApiKey>>('app/api_keys', {}, { everyMs: pollMs * 4 }).data;
  return {
    hasKey: keys?.data.some(({ status }) => status === 'active'),
    hasPayment: useHasAny('app/developer_api_payments'),
    hasWebhook: useHasAny('app/developer_api_webhooks'),
    hasDelivery: useHasAny('app/developer_api_webhook_deliveries', 'succeeded'),
  };
}

function useHasAny(path: `app/${string}`, status?: string): boolean | undefined {
  const query = { limit: 1, status };
  const first = useRead<List<unknown>>(path, query);
  const exists = first.data === undefined ? undefined : first.data.data.length > 0;
  // The same query again with polling, enabled while the first one finds nothing.
  useRead<List<unknown>>(path, query, { everyMs: pollMs, isEnabled: exists === false });
  return exists;
}
