import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { browserCommand } from '../../../cli/browser.ts';
import { recordPages } from '../../../cli/commands/open.ts';
import { runCommand } from '../../../cli/run-command.ts';
import { idPrefixes } from '../../../src/kernel/ids.ts';
import { type CommandWorld, openCommandWorld } from '../../support/command.ts';

describe('sandbank open', () => {
  let world: CommandWorld;
  let folder: string;
  beforeAll(async () => {
    world = await openCommandWorld();
    folder = await mkdtemp(join(tmpdir(), 'sandbank-open-'));
  });
  afterAll(async () => {
    await world?.close();
    await rm(folder, { recursive: true, force: true });
  });

  test('prints the URL of a page, or of a record in the console', async () => {
    const printed = async (...args: string[]) => (await world.sandbank('open', ...args)).stdout;
    expect(await printed()).toBe(`${world.url}/console\n`);
    expect(await printed('docs')).toBe(`${world.url}/docs\n`);
    expect(await printed('api')).toBe(`${world.url}/docs/reference\n`);
    const { id } = await world.json<{ id: string }>(['payments', 'create', '--minor', '100']);
    expect(await printed(id)).toMatch(
      new RegExp(`^${world.url}/console/${world.owner.orgId}/payments/${id}\\?app=app_\\w+\n$`),
    );
    expect(await world.json(['open', 'docs'])).toMatchObject({
      url: `${world.url}/docs`,
      console: `${world.url}/console`,
    });
    for (const [target, message] of [
      ['toString', /Allowed values: console, docs, api, the id of a record\./],
      ['consle', /Did you mean console\?/],
      ['key_1', /"key_1" has no page in the console/],
    ] as const) {
      const wrong = await world.sandbank('open', target);
      expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(message)]);
    }
  });

  const terminal = () => Object.assign(new PassThrough(), { isTTY: true });
  async function onTerminal(args: readonly string[], env: Record<string, string>) {
    const [stdout, stderr] = [terminal(), terminal()];
    const written = Promise.all([text(stdout), text(stderr)]);
    const io = { stdin: Readable.from([]), stdout, stderr, directory: folder };
    const code = await runCommand(args, { ...io, env: { ...world.env, ...env } });
    stdout.end();
    stderr.end();
    const [out, besides] = await written;
    return { code, stdout: out, stderr: besides };
  }

  test.runIf(process.platform === 'linux')('opens the browser on a terminal with a display', async () => {
    const opened = join(folder, 'opened');
    const program = join(folder, 'xdg-open');
    writeFileSync(program, `#!/bin/sh\nprintf %s "$1" > ${opened}.part && mv ${opened}.part ${opened}\n`);
    chmodSync(program, 0o755);
    const env = { PATH: `${folder}:/usr/bin:/bin`, DISPLAY: ':9' };
    expect(await onTerminal(['open', 'docs'], env)).toMatchObject({ code: 0, stderr: '' });
    await vi.waitUntil(() => {
      try {
        return readFileSync(opened, 'utf8') === `${world.url}/docs`;
      } catch {
        return false;
      }
    });
    const missing = await onTerminal(['open'], { ...env, PATH: join(folder, 'nothing') });
    expect(missing).toMatchObject({ code: 0, stdout: `${world.url}/console\n` });
    expect(missing.stderr).toMatch(/No browser could be opened/);
    await rm(opened);
    expect(await onTerminal(['open', '--no-browser'], env)).toMatchObject({ stderr: '' });
  });

  test('links to existing console pages, for ids created by the server', () => {
    const routes = readFileSync(new URL('../../../console/frame/router.tsx', import.meta.url), 'utf8');
    for (const [prefix, page] of Object.entries(recordPages)) {
      expect(routes).toContain(`page('${page}/$id'`);
      expect(Object.values(idPrefixes)).toContain(prefix);
    }
  });

  test("uses the platform's command, and none without a display", () => {
    const url = 'http://127.0.0.1:4000/docs?a=1&b=2';
    expect(browserCommand(url, {}, 'darwin')).toEqual(['open', url]);
    expect(browserCommand(url, {}, 'win32')).toEqual(['rundll32', 'url.dll,FileProtocolHandler', url]);
    expect(browserCommand(url, { WAYLAND_DISPLAY: 'wayland-0' }, 'linux')).toEqual(['xdg-open', url]);
    expect(browserCommand(url, {}, 'linux')).toBeUndefined();
    expect(browserCommand(url, { SSH_CONNECTION: '::1 1 ::1 22' }, 'darwin')).toBeUndefined();
    expect(browserCommand(url, { DISPLAY: ':0', CI: 'true' }, 'linux')).toBeUndefined();
  });
});
