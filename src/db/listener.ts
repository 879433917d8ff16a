import pg from 'pg';

const reconnectMs = 1_000;

/**
 * Hears what is announced on a channel, on a connection of its own. When that is lost it is made again, and an empty
 * announcement says that something may have been missed.
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

  function later(): void {
    if (isClosed) return;
    timer = setTimeout(() => void connect(), reconnectMs);
    timer.unref();
  }

  async function connect(): Promise<void> {
    const made = new pg.Client({
      connectionString: databaseUrl,
      application_name: 'sandbank listener',
      keepAlive: true,
    });
    client = made;
    let isLost = false;
    const lose = (error: Error | undefined) => {
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
