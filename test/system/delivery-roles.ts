import { inject } from 'vitest';
import { migratedDatabase } from '../support/postgres.ts';
import type { ServerProcess } from '../support/processes.ts';
import { type Endpoint, endpoint, openHome } from './delivery-endpoints.ts';
import { type Answering, type Inbox, openInbox } from './delivery-inbox.ts';

/** An API node and a worker node on one PostgreSQL, with one endpoint named `hook`. */
export interface Nodes {
  readonly box: Inbox;
  readonly api: ServerProcess;
  readonly worker: ServerProcess;
  readonly databaseUrl: string;
  readonly endpoints: readonly Endpoint[];
  startApi(): Promise<ServerProcess>;
  startWorker(): Promise<ServerProcess>;
  close(): Promise<void>;
}

export async function openNodes(answering: Answering): Promise<Nodes> {
  const box = await openInbox({ hook: answering });
  const endpoints = [endpoint('hook')];
  const home = openHome(box, endpoints);
  const databaseUrl = await migratedDatabase(inject('postgresUrl'));
  const startApi = () => home.start({ databaseUrl }, '--role', 'api');
  const startWorker = () => home.start({ databaseUrl }, '--role', 'worker');
  const close = async () => {
    await home.remove();
    await box.close();
  };
  try {
    const api = await startApi();
    return { box, api, worker: await startWorker(), databaseUrl, endpoints, startApi, startWorker, close };
  } catch (error) {
    await close();
    throw error;
  }
}
