import { fail } from '../admin/database.ts';
import { applySeed, firstKeyOf, readSeed } from '../admin/seed.ts';
import { exportFile, importFile } from '../admin/snapshot-files.ts';
import { ownerLink } from '../admin/users.ts';
import type { Config } from '../config.ts';
import { removeCliFile, writeCliFile } from '../local/connection-file.ts';
import { packageVersion } from '../local/paths.ts';
import { findAnyKey } from '../resources/api-keys/store.ts';
import { findOrganizations } from '../resources/organizations/store.ts';
import { createServer, type Server } from '../server.ts';
import { banner } from './banner.ts';
import { demoName, openDemo } from './demo.ts';
import { type EarlyStart, reserve } from './early-start.ts';
import { explain } from './explain.ts';
import { onNpmEnd } from './npm-parent.ts';

/** `sandbank start`. Nothing is created before the port is bound and the seed file has been read. */
export async function start(config: Config, early: EarlyStart | undefined): Promise<void> {
  const startedAt = performance.now();
  const port = await (early?.port ?? reserve(config));
  const seed = config.seedFile === undefined ? undefined : await readSeed(config.seedFile);
  // `listen` reports the errors of `ready`.
  const server = await createServer(config, fail, early?.database, (app) => app.ready(() => undefined));
  try {
    const { importFile: file, exportFile: exportedTo, databaseUrl, dataDirectory } = config;
    const secrets = seed ? await applySeed(seed, server, server.wallClock) : [];
    const imported = file === undefined ? [] : await importFile(server, file, exportedTo);
    const isEmbedded = databaseUrl === undefined;
    const demoKey = isEmbedded ? await openDemo(server, dataDirectory, !seed) : undefined;
    const connections = (await port?.release()) ?? [];
    const address = await server.listen();
    for (const socket of connections) {
      server.app.server.emit('connection', socket);
      socket.resume();
    }
    closeOnSignal(server, config);
    if (config.connectionFile !== undefined)
      await writeCliFile(config.connectionFile, {
        url: address,
        // The operator configures the token of a shared server: it is not written to disk.
        operatorToken: isEmbedded ? server.operatorToken : undefined,
        apiKey: demoKey ?? (seed && firstKeyOf(seed)),
      });
    const [demo] = isEmbedded && !seed ? await findOrganizations(server.reader, demoName) : [];
    const link =
      demo?.owners === 0
        ? await ownerLink(server, demo.id, config.publicUrl ?? address, server.wallClock)
        : undefined;
    server.app.log.info(
      {
        version: packageVersion(),
        role: config.role,
        address: `${address}/`,
        database: server.database.kind,
        migrations: server.migrated,
        durationMs: Math.round(performance.now() - startedAt),
      },
      'started',
    );
    const hasKeys = (await findAnyKey(server.reader)) !== undefined;
    const text = banner(config, { address, ownerLink: link, demoKey, hasKeys });
    if (printsBanner(config)) console.log([text, ...imported].join('\n'));
    else for (const line of imported) server.app.log.info(line.trim());
    for (const { url, secret } of secrets)
      console.log(`The secret of the webhook ${url}, shown only now: ${secret}\n`);
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** Not for a shared server without a terminal that logs at `info`: its output is parsed as log lines. */
function printsBanner({ databaseUrl, logLevel }: Config): boolean {
  return databaseUrl === undefined || process.stdout.isTTY || !['info', 'debug', 'trace'].includes(logLevel);
}

/** The first signal shuts down gracefully; a second one exits immediately. */
function closeOnSignal(server: Server, { exportFile: file, connectionFile }: Config): void {
  let isClosing = false;
  const { log } = server.app;
  const stop = (signal: NodeJS.Signals | 'npm ended') => {
    if (isClosing) {
      log.warn({ signal }, 'second signal received, exiting immediately');
      process.exit(1);
    }
    isClosing = true;
    const startedAt = performance.now();
    log.info({ signal }, 'shutting down: draining in-flight requests');
    const last = async () => {
      if (connectionFile !== undefined) await removeCliFile(connectionFile);
      if (file !== undefined) await exportFile(server, file);
    };
    server.close(last).then(
      () => {
        log.info({ signal, durationMs: Math.round(performance.now() - startedAt) }, 'stopped');
        process.exit(0);
      },
      (error: unknown) => {
        console.error(`Sandbank did not shut down cleanly. ${explain(error)}`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  onNpmEnd(process.env, () => isClosing || stop('npm ended'));
}
