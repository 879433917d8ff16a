import { useRead } from '../../client/queries.ts';
import type { ApiKey, List } from '../../client/shapes.ts';

const askEveryMs = 4_000;

export interface StartProgress {
  readonly hasKey: boolean | undefined;
  readonly hasPayment: boolean | undefined;
  readonly hasWebhook: boolean | undefined;
  readonly hasDelivery: boolean | undefined;
}

/** What is there already. Asked again and again until it is there, so that a mark appears while the terminal is open beside. */
export function useProgress(): StartProgress {
  const keys = useRead<List<ApiKey>>('app/api_keys', {}, { everyMs: askEveryMs * 4 }).data;
  return {
    hasKey: keys?.data.some(({ status }) => status === 'active'),
    hasPayment: useAny('app/developer_api_payments'),
    hasWebhook: useAny('app/developer_api_webhooks'),
    hasDelivery: useAny('app/developer_api_webhook_deliveries', 'succeeded'),
  };
}

function useAny(path: `app/${string}`, status?: string): boolean | undefined {
  const query = { limit: 1, status };
  const first = useRead<List<unknown>>(path, query);
  const isThere = first.data === undefined ? undefined : first.data.data.length > 0;
  // The same answer a second time: this one goes on asking, for as long as the first has found nothing.
  useRead<List<unknown>>(path, query, { everyMs: askEveryMs, isEnabled: isThere === false });
  return isThere;
}
