import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { ConfigProblem, type Purpose, readConfig, type StartFlags } from './config.ts';

const read = (flags: StartFlags, env: Record<string, string> = {}, purpose?: Purpose) =>
  readConfig(flags, env, purpose);

const shared = { DATABASE_URL: 'postgres://a:b@c/d', SANDBANK_SECRET: 's'.repeat(32) };

describe('the configuration', () => {
  it('has defaults that are safe on a laptop', () => {
    expect(read({})).toEqual({
      port: 4000,
      host: '127.0.0.1',
      dataDirectory: resolve('.sandbank'),
      connectionFile: resolve('.sandbank/cli.json'),
      databaseUrl: undefined,
      seedFile: undefined,
      role: 'all',
      rateLimit: undefined,
      registration: 'open',
      logLevel: 'warn',
      hasMetrics: false,
      hasTraces: false,
      publicUrl: undefined,
      trustedProxies: [],
      allowedHosts: [],
      secret: undefined,
      allowsPrivateWebhooks: true,
      attemptDays: 30,
      requestDays: 7,
      deterministic: undefined,
      drainSeconds: 0,
      statementSeconds: 10,
    });
  });

  it('uses sandbank.seed.json in the working directory, unless another file is named or the database is shared', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandbank-config-'));
    const file = join(folder, 'sandbank.seed.json');
    const directory = vi.spyOn(process, 'cwd').mockReturnValue(folder);
    try {
      expect(read({}).seedFile).toBeUndefined();
      writeFileSync(file, '{}');
      expect(read({}).seedFile).toBe(file);
      expect(read({}, { SANDBANK_SEED: 'other.json' }).seedFile).toBe(join(folder, 'other.json'));
      expect(read({ seed: 'none' }).seedFile).toBeUndefined();
      expect(read({}, shared).seedFile).toBeUndefined();
      expect(read({ seed: file }, shared).seedFile).toBe(file);
    } finally {
      directory.mockRestore();
      rmSync(folder, { recursive: true });
    }
  });

  it('allows deterministic mode only with an in-memory database', () => {
    expect(read({ deterministic: '42' })).toMatchObject({ deterministic: '42', dataDirectory: undefined });
    expect(read({}, { SANDBANK_DETERMINISTIC: '42' }).deterministic).toBe('42');
    expect(() => read({ deterministic: '42', data: 'here' })).toThrow(/in memory/);
    expect(() => read({ deterministic: '42' }, shared)).toThrow(/in memory/);
    expect(() => read({ deterministic: 'x'.repeat(101) })).toThrow(/at most 100/);
  });

  it('reads the hosts that requests may name', () => {
    expect(
      read({}, { SANDBANK_ALLOWED_HOSTS: 'sandbank, host.docker.internal,[fd00::1],*.example.com' }),
    ).toMatchObject({
      allowedHosts: ['sandbank', 'host.docker.internal', 'fd00::1', '*.example.com'],
    });
    expect(read({ allowedHosts: 'a' }, { SANDBANK_ALLOWED_HOSTS: 'b' }).allowedHosts).toEqual(['a']);
    for (const wrong of ['a:80', 'http://a', '*', 'a b', '*.', 'a/*'])
      expect(() => read({}, { SANDBANK_ALLOWED_HOSTS: wrong }), wrong).toThrow(/SANDBANK_ALLOWED_HOSTS/);
    expect(() => read({}, { SANDBANK_ALLOWED_HOSTS: Array(101).fill('a').join() })).toThrow(/at most 100/);
  });

  it('limits the rate by default with a shared database', () => {
    expect(read({}, shared)).toMatchObject({ rateLimit: 100, dataDirectory: undefined });
    expect(read({}, { ...shared, SANDBANK_RATE_LIMIT: 'off' }).rateLimit).toBeUndefined();
    expect(read({}, { SANDBANK_RATE_LIMIT: '7' }).rateLimit).toBe(7);
  });

  it('blocks webhooks to private addresses by default with a shared database', () => {
    expect(read({}, shared)).toMatchObject({ allowsPrivateWebhooks: false, secret: shared.SANDBANK_SECRET });
    expect(read({}, { ...shared, SANDBANK_PRIVATE_WEBHOOKS: 'on' }).allowsPrivateWebhooks).toBe(true);
    expect(read({}, { SANDBANK_PRIVATE_WEBHOOKS: 'off' }).allowsPrivateWebhooks).toBe(false);
    expect(read({}, { SANDBANK_ATTEMPT_DAYS: '7' }).attemptDays).toBe(7);
    expect(read({}, { SANDBANK_REQUEST_DAYS: '1' }).requestDays).toBe(1);
  });

  it('writes the server address to the data directory, to another file, or not at all', () => {
    expect(read({ data: '/data' }).connectionFile).toBe('/data/cli.json');
    expect(read({ data: 'memory' }).connectionFile).toBeUndefined();
    expect(read({}, shared).connectionFile).toBeUndefined();
    const env = { SANDBANK_CONNECTION_FILE: '/run/sandbank.json' };
    for (const settings of [env, { ...env, ...shared }, { ...env, SANDBANK_DATA_DIR: 'memory' }])
      expect(read({}, settings).connectionFile).toBe('/run/sandbank.json');
  });

  it('trusts no proxy unless it is listed', () => {
    expect(read({}, { SANDBANK_TRUSTED_PROXIES: '10.0.0.0/8, fd00::/8,192.0.2.1' }).trustedProxies).toEqual([
      '10.0.0.0/8',
      'fd00::/8',
      '192.0.2.1',
    ]);
    expect(read({}, { SANDBANK_TRUSTED_PROXIES: ' ' }).trustedProxies).toEqual([]);
  });

  it('reads the drain time within its bounds', () => {
    expect(read({}, { SANDBANK_DRAIN_SECONDS: '15' }).drainSeconds).toBe(15);
    for (const wrong of ['-1', '301', '1.5', 'ten'])
      expect(() => read({}, { SANDBANK_DRAIN_SECONDS: wrong })).toThrow(/from 0 to 300/);
  });

  it('reads the statement timeout within its bounds', () => {
    expect(read({}, { SANDBANK_STATEMENT_TIMEOUT: '30' }).statementSeconds).toBe(30);
    for (const wrong of ['0', '601', '1.5', '10s'])
      expect(() => read({}, { SANDBANK_STATEMENT_TIMEOUT: wrong })).toThrow(/from 1 to 600/);
  });

  it('requires a secret to serve a shared database, but not to inspect it', () => {
    const { DATABASE_URL } = shared;
    expect(() => read({}, { DATABASE_URL })).toThrow(/SANDBANK_SECRET is missing/);
    expect(read({}, { DATABASE_URL }, 'inspect').secret).toBeUndefined();
  });

  it('prefers a flag to a variable and ignores an empty variable', () => {
    expect(read({ port: '1' }, { PORT: '2' }).port).toBe(1);
    expect(read({}, { PORT: '2' }).port).toBe(2);
    expect(read({}, { PORT: '' }).port).toBe(4000);
    expect(read({ data: 'memory' }).dataDirectory).toBeUndefined();
    expect(read({}, { SANDBANK_METRICS: 'on' }).hasMetrics).toBe(true);
    expect(read({}, { SANDBANK_PUBLIC_URL: 'https://pay.test/' }).publicUrl).toBe('https://pay.test');
  });

  it.each<[StartFlags, Readonly<Record<string, string>>, string]>([
    [{ port: '65536' }, {}, 'port'],
    [{ port: '-1' }, {}, 'port'],
    [{ port: '0x10' }, {}, 'port'],
    [{ host: 'a b' }, {}, 'host'],
    [{ role: 'boss' }, {}, 'all, api, worker'],
    [{ role: 'api' }, {}, 'DATABASE_URL'],
    [{}, { SANDBANK_RATE_LIMIT: '0' }, 'SANDBANK_RATE_LIMIT'],
    [{}, { SANDBANK_RATE_LIMIT: '1.5' }, 'SANDBANK_RATE_LIMIT'],
    [{}, { LOG_LEVEL: 'loud' }, 'LOG_LEVEL'],
    [{}, { SANDBANK_METRICS: 'yes' }, 'SANDBANK_METRICS'],
    [{}, { SANDBANK_PUBLIC_URL: 'ftp://x' }, 'SANDBANK_PUBLIC_URL'],
    [{}, { SANDBANK_TRUSTED_PROXIES: 'proxy.internal' }, 'SANDBANK_TRUSTED_PROXIES'],
    [{}, { SANDBANK_TRUSTED_PROXIES: '10.0.0.0/8,' }, 'SANDBANK_TRUSTED_PROXIES'],
    [{}, { SANDBANK_TRUSTED_PROXIES: '10.0.0.0/33' }, 'SANDBANK_TRUSTED_PROXIES'],
    [{}, { SANDBANK_TRUSTED_PROXIES: '::/0' }, 'clients could claim any address'],
    [{}, { SANDBANK_TRUSTED_PROXIES: Array(101).fill('10.0.0.1').join(',') }, 'at most 100'],
    [{}, { SANDBANK_SECRET: 'short' }, 'SANDBANK_SECRET'],
    [{}, { SANDBANK_PRIVATE_WEBHOOKS: 'yes' }, 'SANDBANK_PRIVATE_WEBHOOKS'],
    [{}, { SANDBANK_ATTEMPT_DAYS: '0' }, 'SANDBANK_ATTEMPT_DAYS'],
    [{}, { SANDBANK_REQUEST_DAYS: '1.5' }, 'SANDBANK_REQUEST_DAYS'],
  ])('rejects %j %j with a message that names the setting', (flags, env, name) => {
    expect(() => read(flags, env)).toThrow(ConfigProblem);
    expect(() => read(flags, env)).toThrow(name);
  });

  it('never repeats a database URL, because it may contain a password', () => {
    expect(() => read({}, { DATABASE_URL: 'mysql://u:hunter2@h/d' })).toThrow(/^(?!.*hunter2).*DATABASE_URL/);
  });

  it('exports traces to the collector in the OpenTelemetry variables and rejects an unsupported protocol', () => {
    const to = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
    expect(read({}, to).hasTraces).toBe(true);
    expect(read({}, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://c.example/v1/traces' }).hasTraces).toBe(
      true,
    );
    expect(read({}, { ...to, OTEL_SDK_DISABLED: 'true' }).hasTraces).toBe(false);
    expect(read({}, { ...to, OTEL_TRACES_EXPORTER: 'none' }).hasTraces).toBe(false);
    expect(read({ deterministic: 'seed' }, to).hasTraces).toBe(false);
    expect(() => read({}, { ...to, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toThrow(/4318/);
    expect(() => read({}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' })).toThrow(ConfigProblem);
  });

  it('logs at info by default with a shared database', () => {
    const shared = { DATABASE_URL: 'postgres://a@b/c', SANDBANK_SECRET: 'x'.repeat(32) };
    expect(read({}, shared).logLevel).toBe('info');
    expect(read({}, { ...shared, LOG_LEVEL: 'error' }).logLevel).toBe('error');
  });
});
