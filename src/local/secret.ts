import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const secretBytes = 32;
const fileName = 'secret';

/**
 * The secret that an embedded server encrypts with, when it was given none: made at the first start and kept beside the
 * database, readable by its owner alone. In memory it lives as long as the database does.
 */
export async function ownSecret(dataDirectory: string | undefined): Promise<string> {
  const made = randomBytes(secretBytes).toString('hex');
  if (dataDirectory === undefined) return made;
  const file = join(dataDirectory, fileName);
  const kept = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (kept !== undefined && kept.trim() !== '') return kept.trim();
  // Written aside and put into place, so that a process that dies here does not leave half a secret.
  await writeFile(`${file}.new`, `${made}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return made;
}

const tokenBytes = 32;

/** Embedded, whoever has the data directory is the operator, and gets a new token at each start; a shared server needs to be told. */
export function operatorTokenOf(settings: {
  readonly operatorToken: string | undefined;
  readonly databaseUrl: string | undefined;
}): string | undefined {
  const isShared = settings.databaseUrl !== undefined;
  return settings.operatorToken ?? (isShared ? undefined : randomBytes(tokenBytes).toString('base64url'));
}
