import type { Database } from './database.ts';

const readinessMsMax = 2_000;

export type Readiness = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** Whether the database answers, soon. */
export async function databaseReadiness(database: Database): Promise<Readiness> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('late')), readinessMsMax);
  });
  try {
    await Promise.race([database.query({ name: 'ready', text: 'select 1 as one' }, []), late]);
    return { ok: true };
  } catch {
    return { ok: false, reason: 'The database cannot be reached.' };
  } finally {
    clearTimeout(timer);
  }
}
