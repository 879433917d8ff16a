import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export type Body = Readonly<Record<string, unknown>> & { readonly id: string };

export interface Caller {
  get(path: string): Promise<Body>;
  post(path: string, body?: unknown): Promise<Body>;
  /** The same without a word about refusals, for pages that show them. */
  try(path: string, body?: unknown): Promise<number>;
}

/** A program that calls the API with a key, as the customers of Sandbank write it. */
export function callerOf(url: string, key: string): Caller {
  const send = async (name: string, body?: unknown) => {
    const response = await fetch(`${url}/_api/developer_api_${name}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  };
  const ok = async (name: string, body?: unknown) => {
    const { status, text } = await send(name, body);
    if (status >= 300) throw new Error(`${name} ${JSON.stringify(body)}: ${status} ${text}`);
    return JSON.parse(text) as Body;
  };
  return {
    get: (name) => ok(name),
    post: (name, body = {}) => ok(name, body),
    try: async (name, body) => (await send(name, body)).status,
  };
}

export interface Folder {
  readonly data: string;
  /** Writes a seed file and says where it is. */
  seed(content: unknown): string;
  remove(): void;
}

export function temporaryFolder(): Folder {
  const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-e2e-'));
  return {
    data: path.join(folder, 'data'),
    seed: (content) => {
      const file = path.join(folder, 'seed.json');
      writeFileSync(file, JSON.stringify(content));
      return file;
    },
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}
