import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { systemCommand } from '../engine/system-command.ts';
import type { Refusal } from '../kernel/errors.ts';
import { importOrganization } from '../resources/organizations/snapshot-commands.ts';
import type { Server } from '../server.ts';
import { linesOf, snapshotsOf } from '../snapshots/lines.ts';

/** A file that cannot be imported or written. Its message is one sentence for the person at the terminal. */
export class SnapshotFileProblem extends Error {
  override readonly name = 'SnapshotFileProblem';
}

const isPacked = (file: string) => file.endsWith('.gz');

/**
 * Imports every snapshot in a file whose organization does not exist yet; returns a message for each. A file that is written on
 * exit does not exist at the first start; then there is nothing to import.
 */
export async function importFile(
  { snapshots, engine, wallClock }: Pick<Server, 'snapshots' | 'engine' | 'wallClock'>,
  file: string,
  exportedTo?: string,
): Promise<readonly string[]> {
  if (file === exportedTo && !existsSync(file) && existsSync(dirname(file)))
    return [`The snapshot ${file} does not exist yet. The server starts empty and writes it on exit.`];
  const messages: string[] = [];
  try {
    for await (const lines of snapshotsOf(linesOf(openFile(file)))) {
      const result = await snapshots.importLines(lines, undefined);
      if ('ok' in result) {
        messages.push(skippedMessage(result, file));
        continue;
      }
      const { organization, webhooks } = result;
      const scope = { orgId: organization.id, appId: null };
      const suffix = engine.idGenerator.background(organization.id);
      await engine.submit(systemCommand(importOrganization, null, scope, 'operator', wallClock(), suffix));
      messages.push(`Organization "${organization.name}" (${organization.id}) was imported.`);
      for (const { url, secret } of webhooks)
        if (secret !== undefined)
          messages.push(`The secret of the webhook ${url}, shown only now: ${secret}`);
    }
  } catch (error) {
    throw problem(error, `The snapshot ${file} cannot be read`);
  }
  if (messages.length === 0) throw new SnapshotFileProblem(`The snapshot ${file} is empty.`);
  return messages;
}

function openFile(file: string): AsyncIterable<Uint8Array> {
  const bytes = createReadStream(file);
  if (!isPacked(file)) return bytes;
  const unpacked = createGunzip();
  // `pipe` does not forward errors: pass a read error on to the consumer of the unpacked stream.
  bytes.once('error', (error) => unpacked.destroy(error));
  return bytes.pipe(unpacked);
}

function skippedMessage({ code, message, details }: Refusal, file: string): string {
  if (code !== 'organization_exists')
    throw new SnapshotFileProblem(`The snapshot ${file} is not accepted. ${message ?? code}`);
  const { name, id } = (details?.organization ?? {}) as { name?: string; id?: string };
  return `Organization "${name}" (${id}) already exists and was not imported.`;
}

/**
 * Writes all organizations, with secrets, readable by the file's owner only. It writes a temporary file and renames it, so that a
 * crash leaves the previous file unchanged.
 */
export async function exportFile({ snapshots }: Pick<Server, 'snapshots'>, file: string): Promise<number> {
  const temporary = `${file}.new`;
  try {
    await rm(temporary, { force: true });
    const count = await snapshots.exportAll(async (lines) => {
      const target = createWriteStream(temporary, { mode: 0o600 });
      const source = Readable.from(lines);
      await (isPacked(file) ? pipeline(source, createGzip(), target) : pipeline(source, target));
    });
    await rename(temporary, file);
    return count;
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw problem(error, `The snapshot ${file} cannot be written`);
  }
}

function problem(error: unknown, what: string): unknown {
  if (error instanceof SnapshotFileProblem || !(error instanceof Error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? error : new SnapshotFileProblem(`${what}: ${code}.`);
}
