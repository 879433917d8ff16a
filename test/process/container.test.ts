/** Builds the image from the Dockerfile instructions and runs it. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/processes.ts';
import { readDockerfile } from './support/dockerfile.ts';
import { baseEnv, buildImage, type Container, canRunImages, type Image, runImage } from './support/image.ts';

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const read = (name: string) => readFileSync(path.join(root, name), 'utf8');

/** The files in the build context: .dockerignore excludes everything, includes entries of the root, and excludes names below them. */
function copyContext(target: string): void {
  const [first, ...lines] = read('.dockerignore').trim().split('\n');
  const excluded = lines.filter((line) => !line.startsWith('!'));
  expect(first).toBe('**');
  for (const line of excluded) expect(line).toMatch(/^\*\*\/\*?[\w.]+$/);
  const isExcluded = (file: string) =>
    excluded
      .map((line) => line.slice(3))
      .some((end) => (end.startsWith('*') ? file.endsWith(end.slice(1)) : path.basename(file) === end));
  for (const name of lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1)))
    cpSync(path.join(root, name), path.join(target, name), {
      recursive: true,
      filter: (file) => !isExcluded(file),
    });
}

/** How npm reaches its registry on this machine: cache, proxies and certificates. */
function networkSettings(): Record<string, string> {
  const names =
    /^(npm_config_(registry|cache|userconfig)|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|(https?|no)_proxy)$/i;
  const entries = Object.entries(process.env).filter(([name]) => names.test(name));
  return Object.fromEntries(entries) as Record<string, string>;
}

describe.skipIf(!canRunImages())('the image (skipped without root, overlay mounts and nsenter)', () => {
  let folder: string;
  let image: Image;
  let container: Container | undefined;
  const volumes = () => mkdtempSync(path.join(folder, 'volumes-'));

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'sandbank-image-'));
    const context = path.join(folder, 'context');
    copyContext(context);
    image = await buildImage(readDockerfile(read('Dockerfile'), baseEnv), {
      ...{ context, folder, shared: root },
      env: { HOME: homedir(), npm_config_prefer_offline: 'true', ...networkSettings() },
      // The dependencies and the build of this checkout: their own tests cover both, and they take minutes.
      replaceRun: (command, directory) => {
        if (!command.startsWith('npm ci ')) return false;
        symlinkSync(path.join(root, 'node_modules'), path.join(directory, 'node_modules'));
        cpSync(path.join(root, 'dist'), path.join(directory, 'dist'), { recursive: true });
        return true;
      },
    });
  });
  afterEach(() => container?.kill());
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is built from all files that the build reads, and contains the installed package only', () => {
    // With a file missing from the build context, the build would not recognize `dist` as up to date.
    expect(image.output).toContain('dist is up to date.');
    expect(image.output).not.toContain('Building...');
    const files = readdirSync(path.join(image.layer, 'upper'), { recursive: true, encoding: 'utf8' });
    const top = files.filter((file) => !file.startsWith('opt/sandbank/node_modules/'));
    expect(top.toSorted()).toEqual(['data', 'opt', 'opt/sandbank', 'opt/sandbank/node_modules']);
    const names = ['package.json', 'LICENSE', 'dist', 'migrations'].map(
      (name) => `opt/sandbank/node_modules/sandbank/${name}`,
    );
    expect(files).toEqual(expect.arrayContaining(names));
  });

  it('serves on the port of --port, is healthy there, and stops on its signal', async () => {
    const port = await freePort();
    const place = volumes();
    const health = () => container?.exec(image.healthcheck);
    container = runImage(image, { volumes: place, args: ['start', '--port', String(port)] });
    await container.waitFor('Sandbank is running');
    expect(await health()).toBe(0);
    expect((await fetch(`http://127.0.0.1:${port}/docs`)).status).toBe(200);
    expect(
      await container.exec(['sandbank', 'payments', 'create', '--amount', '1.00', '--currency', 'EUR']),
    ).toBe(0);

    // With the port of another server, or without one, the check fails.
    const file = path.join(place, 'data', 'cli.json');
    const written = readFileSync(file, 'utf8');
    writeFileSync(file, written.replace(String(port), String(await freePort())));
    expect(await health()).not.toBe(0);
    rmSync(file);
    expect(await health()).not.toBe(0);

    expect(await container.stop()).toBe(0);
    expect(readdirSync(path.join(place, 'data'))).toContain('db');
  });

  it('serves on the port of PORT without data, and is healthy there', async () => {
    const port = String(await freePort());
    container = runImage(image, {
      volumes: volumes(),
      args: ['start', '--data', 'memory'],
      env: { PORT: port },
    });
    await container.waitFor('Sandbank is running');
    expect(await container.exec(image.healthcheck)).toBe(0);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
    expect(await container.stop()).toBe(0);
  });
});
