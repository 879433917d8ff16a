import pg from 'pg';
import { Hosts } from './hosts.ts';

const reconnectMs = 1_000;
const connectMsMax = 5_000;
// Without a heartbeat a dead connection would seem idle forever.
const heartbeatMs = 10_000;
const heartbeatMsMax = 5_000;

/**
 * Listens for notifications on a channel, on a dedicated connection to the host that accepts writes. It reconnects after a loss
 * and then reports an empty payload, because notifications may have been missed.
 */
export async function listenPostgres(
  databaseUrl: string,
  channel: string,
  onNotification: (payload: string) => void,
  onError: (error: Error) => void,
): Promise<{ close(): Promise<void> }> {
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const hosts = new Hosts(databaseUrl);

  function reconnectLater(): void {
    if (isClosed) return;
    timer = setTimeout(() => void connect(), reconnectMs);
    timer.unref();
  }

  async function connect(): Promise<void> {
    await hosts.findPrimary();
    if (isClosed) return;
    const created = new pg.Client({
      connectionString: hosts.current,
      application_name: 'sandbank listener',
      keepAlive: true,
      connectionTimeoutMillis: connectMsMax,
      query_timeout: heartbeatMsMax,
    });
    client = created;
    let isLost = false;
    let heartbeat: NodeJS.Timeout | undefined;
    const lose = (error: Error | undefined) => {
      clearInterval(heartbeat);
      if (isLost || isClosed) return;
      isLost = true;
      if (error) onError(error);
      created.end().catch(() => undefined);
      reconnectLater();
    };
    created.on('error', lose);
    created.on('end', () => lose(undefined));
    created.on('notification', ({ payload }) => onNotification(payload ?? ''));
    try {
      await created.connect();
      await created.query(`listen ${pg.escapeIdentifier(channel)}`);
      onNotification('');
      heartbeat = setInterval(() => void created.query('select 1').catch(lose), heartbeatMs);
      heartbeat.unref();
    } catch (error) {
      lose(error instanceof Error ? error : new Error(String(error)));
    }
  }

  await connect();
  return {
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await client?.end().catch(() => undefined);
    },
  };
}
