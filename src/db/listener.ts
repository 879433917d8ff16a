import pg from 'pg';
import { Hosts } from './hosts.ts';

const reconnectMs = 1_000;
const connectMsMax = 5_000;
// A connection whose other end is gone without a word would be silent for ever, and silence is what it usually says.
const pulseMs = 10_000;
const pulseMsMax = 5_000;

/**
 * Hears what is announced on a channel, on a connection of its own. When that is lost it is made again, and an empty
 * announcement says that something may have been missed. Of several hosts it is the one that takes writes.
 */
export async function listenPostgres(
  databaseUrl: string,
  channel: string,
  onWords: (words: string) => void,
  onError: (error: Error) => void,
): Promise<{ close(): Promise<void> }> {
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const hosts = new Hosts(databaseUrl);

  function later(): void {
    if (isClosed) return;
    timer = setTimeout(() => void connect(), reconnectMs);
    timer.unref();
  }

  async function connect(): Promise<void> {
    await hosts.look();
    if (isClosed) return;
    const made = new pg.Client({
      connectionString: hosts.current,
      application_name: 'sandbank listener',
      keepAlive: true,
      connectionTimeoutMillis: connectMsMax,
      query_timeout: pulseMsMax,
    });
    client = made;
    let isLost = false;
    let pulse: NodeJS.Timeout | undefined;
    const lose = (error: Error | undefined) => {
      clearInterval(pulse);
      if (isLost || isClosed) return;
      isLost = true;
      if (error) onError(error);
      made.end().catch(() => undefined);
      later();
    };
    made.on('error', lose);
    made.on('end', () => lose(undefined));
    made.on('notification', ({ payload }) => onWords(payload ?? ''));
    try {
      await made.connect();
      await made.query(`listen ${pg.escapeIdentifier(channel)}`);
      onWords('');
      pulse = setInterval(() => void made.query('select 1').catch(lose), pulseMs);
      pulse.unref();
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
