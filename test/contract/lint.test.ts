import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { openServer } from '../support/server.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const redocly = createRequire(import.meta.url).resolve('@redocly/cli/bin/cli.js');

interface Problem {
  readonly ruleId: string;
  readonly severity: string;
  readonly message: string;
  readonly location: readonly { readonly pointer?: string }[];
}

/** All linter errors and warnings. Runs offline. */
async function lint(document: string): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'sandbank-lint-'));
  try {
    const file = join(folder, 'openapi.json');
    await writeFile(file, document);
    const args = [
      redocly,
      'lint',
      file,
      '--config',
      'redocly.yaml',
      '--format',
      'json',
      '--max-problems',
      '1000',
    ];
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    // The exit code is 1 when it finds errors; stdout lists them all the same.
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: root,
      env,
      maxBuffer: 50_000_000,
    }).catch((error: { stdout: string }) => error);
    const { problems } = JSON.parse(stdout) as { problems: readonly Problem[] };
    return problems.map(
      ({ ruleId, severity, message, location }) =>
        `${severity} ${ruleId}: ${message} (${location[0]?.pointer ?? 'the document'})`,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('the OpenAPI document of a server', () => {
  let server: Server;
  let document: Record<string, unknown>;

  beforeAll(async () => {
    server = await openServer('pglite');
    const url = await server.listen();
    document = (await (await fetch(`${url}/openapi.json`)).json()) as Record<string, unknown>;
  });
  afterAll(() => server?.close());

  test('passes the strict redocly rules without an error or a warning', async () => {
    expect(await lint(JSON.stringify(document))).toEqual([]);
  });

  test('is actually checked: a tag without a description and an invalid example are found', async () => {
    const text = JSON.stringify({ ...document, tags: [{ name: 'Sandbox' }] });
    const problems = await lint(text.replace('"example":{"amount":12500', '"example":{"amount":"much"'));
    expect(problems).toContainEqual(expect.stringContaining('error tag-description'));
    expect(problems).toContainEqual(expect.stringContaining('error no-invalid-media-type-examples'));
  });
});
