import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const secretBytes = 32;
const fileName = 'secret';

/**
 * The encryption secret of an embedded server without a configured one: generated at the first start and stored beside the
 * database, readable by the owner only. For an in-memory database it is not stored.
 */
export async function ownSecret(dataDirectory: string | undefined): Promise<string> {
  const generated = randomBytes(secretBytes).toString('hex');
  if (dataDirectory === undefined) return generated;
  const file = join(dataDirectory, fileName);
  const stored = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (stored !== undefined && stored.trim() !== '') return stored.trim();
  // Write a temporary file and rename it, so that a crash does not leave a partial secret.
  await writeFile(`${file}.new`, `${generated}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return generated;
}

const tokenBytes = 32;

/** An embedded server generates a new token at each start: the owner of the data directory is its operator. A shared server needs a configured one. */
export function operatorTokenOf(settings: {
  readonly operatorToken: string | undefined;
  readonly databaseUrl: string | undefined;
}): string | undefined {
  const isShared = settings.databaseUrl !== undefined;
  return settings.operatorToken ?? (isShared ? undefined : randomBytes(tokenBytes).toString('base64url'));
}
