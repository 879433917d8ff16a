/** The files that run Sandbank in containers: Dockerfile, compose.yaml and the dev container. test/process/container.test.ts runs the image. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { validate } from 'dockerfile-utils';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../src/config.ts';
import { readDockerfile } from '../process/support/dockerfile.ts';

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const readJson = (name: string) => JSON.parse(read(name)) as Record<string, unknown>;

describe('Dockerfile', () => {
  const content = read('Dockerfile');
  const stages = readDockerfile(content, { PATH: '/bin' });
  const steps = stages.flatMap((stage) => stage.steps);
  const final = stages.at(-1);
  const last = (keyword: string) => final?.steps.findLast((step) => step.keyword === keyword);

  it('has no linter findings', () => {
    expect(validate(content)).toEqual([]);
    expect(validate(content.replace('WORKDIR /src', 'WORKDIR src'))).not.toEqual([]);
  });

  it('follows the additional hadolint rules', () => {
    // DL3020: COPY, not ADD. DL3025: JSON form for container commands. DL3002: the last user is not root.
    expect(steps.filter(({ keyword }) => keyword === 'ADD')).toEqual([]);
    for (const keyword of ['ENTRYPOINT', 'CMD']) expect(last(keyword)?.text).toMatch(/^\[".*"\]$/);
    expect(last('USER')?.args).toEqual(['1000:1000']);
    // DL3004 and DL3008: no sudo, no unpinned system packages. DL3016: npm installs the lockfile or our tarball, nothing else.
    const commands = steps.filter(({ keyword }) => keyword === 'RUN').map(({ text }) => text);
    expect(commands.filter((text) => /\b(sudo|apt-get|apk|curl|wget)\b/.test(text))).toEqual([]);
    for (const [, name] of commands.join('\n').matchAll(/npm install .*?(\S+)$/gm))
      expect(name).toBe('/pack/sandbank-*.tgz');
    // DL3022 and DL3045: copies come from stages that exist, to absolute paths or below WORKDIR.
    const from = steps.flatMap(({ flags }) => flags.from ?? []);
    expect(from).toEqual(['build']);
    expect(stages.map(({ name }) => name)).toEqual(['build', undefined]);
  });

  it('builds on a Node.js release line with long-term support that can be pinned by digest', () => {
    expect(content).toMatch(/^ARG NODE_IMAGE=/m);
    for (const { base } of stages) expect(base).toBe(final?.base);
    const [, major = ''] = /^node:(\d+)-\w+-slim$/.exec(final?.base ?? '') ?? [];
    expect(Number(major)).toBeGreaterThanOrEqual(24);
    expect(Number(major) % 2, 'only even release lines get long-term support').toBe(0);
  });

  it('declares labels, data volume, health check and stop signal', () => {
    const { license } = readJson('package.json');
    expect(final?.labels).toMatchObject({
      'org.opencontainers.image.title': 'Sandbank',
      'org.opencontainers.image.licenses': license,
    });
    expect(final?.env.SANDBANK_DATA_DIR).toBe(last('VOLUME')?.text);
    expect(final?.env.PORT).toBe(last('EXPOSE')?.text);
    expect(last('STOPSIGNAL')?.text).toBe('SIGTERM');
    expect(last('HEALTHCHECK')?.text).toBe('CMD ["sandbank", "health"]');
  });
});

describe('published ports', () => {
  const files = ['Dockerfile', 'compose.yaml', 'docs/ci.md', 'docs/shared-server.md', 'docs/operating.md'];
  it.each(files)('%s publishes them on loopback only', (name) => {
    const published = [...read(name).matchAll(/(?:-p|--publish) (\S+)/g)].map(([, port]) => port);
    for (const port of published) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });
});

describe('compose.yaml', () => {
  interface Service {
    readonly environment: Readonly<Record<string, string>>;
    readonly tmpfs: readonly string[];
    readonly [name: string]: unknown;
  }
  const compose = parse(read('compose.yaml')) as { readonly services: Readonly<Record<string, Service>> };
  const { sandbank, postgres } = compose.services as { sandbank: Service; postgres: Service };

  it('is valid', () => {
    const check = new Ajv({ strict: false, validateSchema: false }).compile(
      readJson('test/contract/schemas/compose.json'),
    );
    expect(check(compose), JSON.stringify(check.errors)).toBe(true);
    expect(check({ services: { sandbank: { ...sandbank, port: [] } } })).toBe(false);
  });

  it.skipIf(spawnSync('docker', ['compose', 'version']).status !== 0)(
    'is valid to Docker (skipped where docker compose is not installed)',
    () => {
      const file = fileURLToPath(new URL('../../compose.yaml', import.meta.url));
      const env = { ...process.env, POSTGRES_PASSWORD: 'p', SANDBANK_SECRET: 's'.repeat(32) };
      const { status, stderr } = spawnSync('docker', ['compose', '--file', file, 'config'], {
        env,
        encoding: 'utf8',
      });
      expect([status, stderr]).toEqual([0, '']);
    },
  );

  /** Substitutes variables as Compose does: an unset one gets its default. Required ones get `value`. */
  const environment = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(sandbank.environment).map(([name, text]) => [
        name,
        text.replaceAll(/\$\{(\w+):([-?])(.*?)\}/g, (_all, variable: string, sign: string, rest: string) => {
          const value = values[variable];
          if (value === undefined && sign === '?') throw new Error(`${variable} is required: ${rest}`);
          return value ?? rest;
        }),
      ]),
    );
  const required = { POSTGRES_PASSWORD: 'secret', SANDBANK_SECRET: 's'.repeat(32) };
  const configOf = (values: Readonly<Record<string, string>>) =>
    readConfig({}, environment({ ...required, ...values }));

  it('configures a server that accepts local webhooks, unless that is switched off', () => {
    expect(configOf({})).toMatchObject({
      databaseUrl: 'postgres://sandbank:secret@postgres:5432/sandbank',
      publicUrl: 'http://127.0.0.1:4000',
      registration: 'closed',
      allowsPrivateWebhooks: true,
    });
    expect(configOf({ SANDBANK_PRIVATE_WEBHOOKS: 'off' }).allowsPrivateWebhooks).toBe(false);
    expect(sandbank.extra_hosts).toEqual(['host.docker.internal:host-gateway']);
    for (const name of Object.keys(required))
      expect(() => environment({ ...required, [name]: undefined } as never)).toThrow(`${name} is required`);
  });

  it('documents every variable of the server', () => {
    const page = read('docs/shared-server.md');
    for (const name of Object.keys(sandbank.environment).filter((one) => one !== 'TMPDIR'))
      expect(page).toContain(name);
  });

  it('starts after a healthy PostgreSQL 18, and has a stop grace period', () => {
    expect(sandbank.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
    expect(postgres.image).toBe('postgres:18');
    // Since version 18, the image stores its data one folder higher.
    expect(postgres.volumes).toEqual(['postgres:/var/lib/postgresql']);
    expect(sandbank.stop_grace_period).toBe('30s');
    // The server has the health check of its image.
    expect(sandbank.healthcheck).toBeUndefined();
    expect(postgres.healthcheck).toMatchObject({
      test: ['CMD-SHELL', expect.stringContaining('pg_isready')],
    });
  });

  it.each(['sandbank', 'postgres'])('restricts the privileges and resources of %s', (name) => {
    const service = compose.services[name];
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
      pids_limit: expect.any(Number),
    });
    for (const mount of service?.tmpfs ?? []) expect(mount).toMatch(/:size=\d+m,.*noexec,nosuid,nodev$/);
    expect(service?.environment.TMPDIR).toBe('/run/scratch');
    for (const key of ['privileged', 'network_mode', 'pid', 'userns_mode'])
      expect(service).not.toHaveProperty(key);
    expect(JSON.stringify(service)).not.toContain('docker.sock');
  });

  it('drops all capabilities of the server, and publishes it on loopback only', () => {
    expect(sandbank).not.toHaveProperty('cap_add');
    expect(sandbank.ports).toEqual(['127.0.0.1:4000:4000']);
    expect(postgres).not.toHaveProperty('ports');
  });
});

describe('.devcontainer/devcontainer.json', () => {
  const container = readJson('.devcontainer/devcontainer.json');

  it('is valid', () => {
    const schema = readJson('test/contract/schemas/devcontainer.json');
    const check = new Ajv2019({ strict: false, logger: false, validateFormats: false }).compile(schema);
    expect(check(container), JSON.stringify(check.errors)).toBe(true);
    expect(check({ ...container, forwardPorts: 4000 })).toBe(false);
  });

  it('has the Node.js release line of the image, and forwards the port of the server', () => {
    const [, major] = /^ARG NODE_IMAGE=node:(\d+)-/m.exec(read('Dockerfile')) ?? [];
    expect(container.image).toMatch(new RegExp(`:${major}-`));
    expect(container.forwardPorts).toEqual([4000]);
    const { scripts } = readJson('package.json') as { scripts: Record<string, string> };
    for (const [, script = ''] of String(container.postCreateCommand).matchAll(/npm run (\S+)/g))
      expect(Object.keys(scripts)).toContain(script);
  });
});
