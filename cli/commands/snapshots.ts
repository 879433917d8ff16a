import { createWriteStream } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gunzipSync } from 'node:zlib';
import type { Command } from 'commander';
import type { ImportAnswer } from '../../sdk/client.ts';
import { declare } from '../declare.ts';
import { fields } from '../layout.ts';
import { organizationOf } from '../organization.ts';
import { CliProblem, wrongUsage } from '../problem.ts';
import type { Session } from '../session.ts';

interface ExportOptions {
  readonly organization?: string;
  readonly withSecrets?: true;
}

interface ImportOptions {
  readonly fork?: true;
  readonly name?: string;
}

export function addSnapshots(program: Command): void {
  declare<ExportOptions>(program, 'export <file>', {
    summary: 'Export an organization to a file',
    details:
      'The file is JSON Lines; a name that ends in .gz compresses it, and - is standard output. API keys are stored as hashes, webhook secrets only with --with-secrets. It needs the operator token.',
    options: [
      ['--organization <name>', 'name or id (default: that of the current key, or the only one)'],
      ['--with-secrets', 'include webhook secrets in plain text'],
    ],
    examples: [['export acme.jsonl.gz'], ['export --organization Acme --with-secrets acme.jsonl']],
    run: async (session, { organization, withSecrets }, file = '') => {
      const operator = await session.operator();
      const id = await organizationOf(session, operator, organization);
      const stream = await operator.snapshotStream(id, { secrets: withSecrets === true });
      const source = Readable.fromWeb(stream as Parameters<typeof Readable.fromWeb>[0]);
      if (file === '-') {
        await pipeline(source, session.stdout, { end: false });
        return undefined;
      }
      const bytes = await write(source, file, session);
      session.out.show(
        { object: 'export', sandbox: true, status: 'ok', organizationId: id, file, bytes },
        () => `Exported ${id} to ${file} (${bytes} bytes before compression).`,
      );
      return undefined;
    },
  });
  declare<ImportOptions>(program, 'import <file>', {
    summary: 'Import a snapshot, as the same organization or as a copy',
    details:
      'It reads files of "sandbank export" and --export-on-exit, also compressed; - is standard input. New keys and secrets are shown once. It needs the operator token.',
    options: [
      ['--fork', 'import as a new organization with new keys'],
      ['--name <name>', 'name of the new organization, with --fork'],
    ],
    examples: [['import acme.jsonl.gz'], ['import acme.jsonl --fork --name "Acme, a copy"']],
    run: async (session, { fork, name }, file = '') => {
      if (name !== undefined && fork !== true) throw wrongUsage('--name requires --fork.');
      const operator = await session.operator();
      const snapshots = snapshotsIn(await readSnapshot(file, session));
      if (name !== undefined && snapshots.length > 1)
        throw wrongUsage(`${file} contains ${snapshots.length} organizations, and --name applies to one.`);
      for (const snapshot of snapshots) {
        session.out.progress(`Importing ${snapshot.length} characters...`);
        const answer = await operator.importSnapshot(snapshot, {
          ...(fork ? { fork } : {}),
          ...(name === undefined ? {} : { name }),
        });
        session.out.show(answer, () => importText(answer));
      }
      return undefined;
    },
  });
}

/** Written beside its target and then renamed, so that the target is always complete. */
async function write(source: Readable, file: string, { out }: Session): Promise<number> {
  let bytes = 0;
  source.on('data', (chunk: Uint8Array) => {
    bytes += chunk.length;
    out.progress(`${bytes} bytes...`);
  });
  const draft = `${file}.${process.pid}.part`;
  const target: Writable = createWriteStream(draft, { mode: 0o600, flags: 'wx' });
  try {
    if (file.endsWith('.gz')) await pipeline(source, createGzip(), target);
    else await pipeline(source, target);
    await rename(draft, file);
    return bytes;
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function readSnapshot(file: string, { stdin }: Session): Promise<string> {
  if (file === '-') {
    const chunks: Buffer[] = [];
    for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Uint8Array));
    return unpacked(Buffer.concat(chunks));
  }
  return unpacked(await readFile(file));
}

/** Detected by the magic bytes, not by the file name. */
function unpacked(bytes: Buffer): string {
  const isCompressed = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return (isCompressed ? gunzipSync(bytes) : bytes).toString('utf8');
}

/** `--export-on-exit` writes one snapshot after the other; each begins with its own header line. */
export function snapshotsIn(text: string): readonly string[] {
  const starts = [...text.matchAll(/^\{"format":"sandbank-snapshot"/gm)].map(({ index }) => index);
  if (starts[0] !== 0)
    throw new CliProblem('This file is not a snapshot: the first line is not a snapshot header.');
  return starts.map((start, index) => text.slice(start, starts[index + 1]));
}

function importText({ organization, apiKeys, webhooks, counts }: ImportAnswer): string {
  return fields([
    ['organization', `${organization.name} (${organization.id})`],
    ...apiKeys.map(({ name, key }) => [`key ${name}`, key ?? 'as before'] as const),
    ...webhooks.map(({ url, secret }) => [`secret of ${url}`, secret ?? 'as before'] as const),
    ...Object.entries(counts).map(([name, count]) => [name, count] as const),
  ]);
}
