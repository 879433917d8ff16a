/** The servers of a soak: two nodes on PostgreSQL behind a load balancer, or one on the embedded database, and their disturbances. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type DatabaseProxy, openDatabaseProxy } from '../process/support/database-proxy.ts';
import { queryEmbedded, queryPostgres } from '../process/support/database-rows.ts';
import { type LoadBalancer, openLoadBalancer } from '../process/support/load-balancer.ts';
import type { Query } from '../support/audit.ts';
import { type Postgres, startPostgres } from '../support/postgres.ts';
import { runToEnd, type ServerOptions, type ServerProcess, startServer } from '../support/processes.ts';
import type { WallClock } from './wall-clock.ts';

export interface ClusterOptions {
  readonly folder: string;
  readonly seedFile: string;
  readonly clock: WallClock;
  /** Flags of Node for the servers. */
  readonly nodeArgs: readonly string[];
  /** Called when a process ends that nobody has killed. */
  readonly onExit: (text: string) => void;
}

export interface Node {
  readonly name: string;
  life: number;
  startedAt: number;
  /** Undefined while it is starting. */
  process: ServerProcess | undefined;
}

const startsMax = 20;
const pauseMs = 500;
const logCharacters = 2_000;

export class Cluster {
  readonly nodes: readonly Node[];
  readonly operatorToken = randomBytes(32).toString('base64url');
  readonly #options: ClusterOptions;
  readonly #server: ServerOptions;
  readonly #balancer: LoadBalancer;
  readonly #postgres: Postgres | undefined;
  readonly #proxy: DatabaseProxy | undefined;
  readonly #databaseUrl: string;
  #isClosing = false;
  #starts = new Set<Promise<void>>();

  private constructor(
    options: ClusterOptions,
    balancer: LoadBalancer,
    database?: { readonly postgres: Postgres; readonly proxy: DatabaseProxy; readonly url: string },
  ) {
    this.#options = options;
    this.#balancer = balancer;
    this.#postgres = database?.postgres;
    this.#proxy = database?.proxy;
    this.#databaseUrl = database?.url ?? '';
    this.nodes = (database ? ['node 1', 'node 2'] : ['node 1']).map((name) => ({
      ...{ name, life: 0, startedAt: 0 },
      process: undefined,
    }));
    const at = new URL(this.#databaseUrl || 'postgres://localhost');
    if (database) at.port = String(database.proxy.port);
    this.#server = {
      ...(database ? { databaseUrl: at.href } : { dataDir: this.dataDirectory }),
      nodeArgs: [...options.nodeArgs, ...options.clock.nodeArgs],
      env: {
        ...options.clock.env,
        SANDBANK_METRICS: 'on',
        SANDBANK_OPERATOR_TOKEN: this.operatorToken,
        SANDBANK_PRIVATE_WEBHOOKS: 'on',
        SANDBANK_REGISTRATION: 'open',
        // The archive is created at once.
        SANDBANK_RATE_LIMIT: '1000',
        SANDBANK_STATEMENT_TIMEOUT: '10',
        SANDBANK_REQUEST_DAYS: '1',
        SANDBANK_ATTEMPT_DAYS: '1',
        LOG_LEVEL: 'warn',
      },
    };
  }

  static async onPostgres(options: ClusterOptions): Promise<Cluster> {
    const postgres = await startPostgres();
    const url = await postgres.createDatabase('soak');
    const proxy = await openDatabaseProxy(postgres.port);
    return new Cluster(options, await openLoadBalancer(), { postgres, proxy, url });
  }

  static async embedded(options: ClusterOptions): Promise<Cluster> {
    return new Cluster(options, await openLoadBalancer());
  }

  /** Where clients send their requests. */
  get url(): string {
    return this.#balancer.url;
  }

  get dataDirectory(): string {
    return path.join(this.#options.folder, 'data');
  }

  get walDirectory(): string {
    return this.#postgres
      ? path.join(this.#postgres.dataDirectory, 'pg_wal')
      : path.join(this.dataDirectory, 'db', 'pg_wal');
  }

  /** Of PostgreSQL itself, without the proxy; empty for the embedded database. */
  get databaseUrl(): string {
    return this.#databaseUrl;
  }

  get isOnPostgres(): boolean {
    return this.#postgres !== undefined;
  }

  /** One node after the other: the first creates the schema. */
  async open(): Promise<void> {
    for (const node of this.nodes) await this.#start(node);
  }

  async kill(node: Node): Promise<void> {
    const { process: killed } = node;
    if (!killed) return;
    this.#remove(node);
    await killed.kill();
    await this.#start(node);
  }

  /** The process does nothing for a time, and its connections stay open. */
  async freeze({ process: frozen }: Node, ms: number): Promise<void> {
    if (!frozen) return;
    frozen.child.kill('SIGSTOP');
    await delay(ms);
    frozen.child.kill('SIGCONT');
  }

  cutConnections(): void {
    this.#proxy?.cutAll();
  }

  /** A crash of PostgreSQL: it recovers from its WAL. */
  async restartDatabase(): Promise<void> {
    await this.#postgres?.stopServer('immediate');
    await this.#postgres?.startServer();
  }

  /** Runs queries. The embedded database must have no server at that time. */
  inspect<Result>(work: (query: Query) => Promise<Result>): Promise<Result> {
    return this.isOnPostgres
      ? queryPostgres(this.#databaseUrl, work)
      : queryEmbedded(this.dataDirectory, work);
  }

  verify(): ReturnType<typeof runToEnd> {
    return runToEnd({ ...this.#server, args: ['verify', '--json'] });
  }

  /** Stops every node as an operator does. The database stays. */
  async stopNodes(): Promise<void> {
    this.#isClosing = true;
    await Promise.all(this.#starts);
    for (const node of this.nodes) {
      const { process: stopped } = node;
      this.#remove(node);
      const code = await stopped?.stop();
      if (code !== 0) throw new Error(`${node.name} ended with ${code}:\n${stopped?.logs()}`);
    }
    this.#isClosing = false;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.allSettled(this.#starts);
    await Promise.all(this.nodes.map(({ process: running }) => running?.kill()));
    await this.#balancer.close();
    await this.#proxy?.close();
    await this.#postgres?.stop();
  }

  #start(node: Node): Promise<void> {
    const start = this.#startOnce(node);
    this.#starts.add(start);
    return start.finally(() => this.#starts.delete(start));
  }

  async #startOnce(node: Node): Promise<void> {
    const started = await this.#startPatiently();
    node.life += 1;
    node.startedAt = performance.now();
    node.process = started;
    started.child.once('exit', (code, signal) => {
      if (node.process !== started) return;
      this.#remove(node);
      const tail = started.logs().slice(-logCharacters);
      this.#options.onExit(`${node.name} ended with ${signal ?? `code ${code}`}: ${tail}`);
      if (!this.#isClosing) void this.#start(node).catch((error) => this.#options.onExit(String(error)));
    });
    await this.#balancer.add(started.url);
  }

  /** A supervisor starts a server again that finds its database in the middle of a disturbance. */
  async #startPatiently(): Promise<ServerProcess> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await startServer({ ...this.#server, seed: this.#options.seedFile });
      } catch (error) {
        if (attempt === startsMax || !this.isOnPostgres) throw error;
        await delay(pauseMs);
      }
    }
  }

  #remove(node: Node): void {
    if (node.process) this.#balancer.remove(node.process.url);
    node.process = undefined;
  }
}
