import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { amountText, minorUnits } from '../../../cli/money.ts';
import { duration, since, time } from '../../../cli/reading.ts';
import { readSettings } from '../../../cli/settings.ts';

describe('connection settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbank-settings-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, '.sandbank'));
  const noted = { url: 'http://127.0.0.1:4321', apiKey: 'noted-key', operatorToken: 'noted-token' };
  writeFileSync(join(folder, '.sandbank', 'cli.json'), JSON.stringify(noted));

  test('flags override the environment, and the environment overrides the connection file', () => {
    const env = {
      SANDBANK_URL: 'http://127.0.0.1:2',
      SANDBANK_API_KEY: 'env-key',
      SANDBANK_OPERATOR_TOKEN: 'env-token',
    };
    const flags = { url: 'http://127.0.0.1:1', apiKey: 'flag-key' };
    expect(readSettings(flags, env, folder)).toMatchObject({
      url: 'http://127.0.0.1:1',
      apiKey: 'flag-key',
      operatorToken: 'env-token',
    });
    expect(readSettings({}, env, folder)).toMatchObject({
      url: 'http://127.0.0.1:2',
      apiKey: 'env-key',
      origins: { apiKey: 'environment' },
    });
    expect(readSettings({}, { SANDBANK_KEY: 'old-name' }, folder).apiKey).toBe('old-name');
    expect(readSettings({}, { ...env, SANDBANK_KEY: 'old-name' }, folder).apiKey).toBe('env-key');
    expect(readSettings({}, {}, folder)).toMatchObject({
      ...noted,
      origins: { url: 'connection file', apiKey: 'connection file', operatorToken: 'connection file' },
    });
    expect(readSettings({}, { SANDBANK_DATA_DIR: 'memory' }, folder)).toMatchObject({
      url: 'http://127.0.0.1:4000',
      apiKey: undefined,
    });
  });

  test('SANDBANK_CONNECTION_FILE names the connection file, wherever the data directory is', () => {
    const file = join(folder, 'connection.json');
    const env = { SANDBANK_CONNECTION_FILE: file, SANDBANK_DATA_DIR: 'memory' };
    expect(readSettings({}, env, folder)).toMatchObject({
      origins: { url: 'default' },
      connectionFile: undefined,
    });
    writeFileSync(file, JSON.stringify({ url: 'http://127.0.0.1:4322' }));
    expect(readSettings({}, env, folder)).toMatchObject({
      url: 'http://127.0.0.1:4322',
      apiKey: undefined,
      connectionFile: file,
    });
  });

  test('secrets in a connection file are not sent to another server', () => {
    const other = readSettings({ url: 'https://elsewhere.test' }, {}, folder);
    expect(other).toMatchObject({ apiKey: undefined, operatorToken: undefined });
    expect(readSettings({ url: 'http://localhost:4321/' }, {}, folder)).toMatchObject({
      apiKey: 'noted-key',
    });
  });

  test('reports a malformed connection file', () => {
    const broken = join(folder, 'broken');
    mkdirSync(broken);
    writeFileSync(join(broken, 'cli.json'), 'oops');
    expect(() => readSettings({}, { SANDBANK_DATA_DIR: broken }, folder)).toThrow(/is not JSON/);
  });
});

describe('amounts', () => {
  test.each<[{ amount?: string; minor?: string }, string, number]>([
    [{ amount: '12.50' }, 'EUR', 1250],
    [{ amount: '12.5' }, 'eur', 1250],
    [{ amount: '0.01' }, 'EUR', 1],
    [{ amount: '1250' }, 'JPY', 1250],
    [{ amount: '1.250' }, 'KWD', 1250],
    [{ minor: '1250' }, 'EUR', 1250],
    [{ amount: '9999999999.99' }, 'EUR', 999_999_999_999],
  ])('%j in %s is %i minor units', (input, currency, minor) => {
    expect(minorUnits(input, currency)).toBe(minor);
  });

  test.each(['12', '-1.00', '1,00', '1.', '.5', '1e3', '12.505', ''])(
    'rejects "%s" as an amount in EUR',
    (amount) => {
      expect(() => minorUnits({ amount }, 'EUR')).toThrow();
    },
  );

  test.each<[number | string, string, string]>([
    [1250, 'EUR', '12.50 EUR'],
    ['-9007199254740993', 'EUR', '-90071992547409.93 EUR'],
    [5, 'EUR', '0.05 EUR'],
    [-5, 'EUR', '-0.05 EUR'],
    [1250, 'JPY', '1250 JPY'],
    [5, 'KWD', '0.005 KWD'],
  ])('formats %s %s as %s', (minor, currency, text) => {
    expect(amountText(minor, currency)).toBe(text);
  });
});

describe('times', () => {
  test.each<[string, number]>([
    ['3d4h', 273_600],
    ['90m', 5_400],
    ['2w', 1_209_600],
    ['45s', 45],
  ])('parses %s as %i seconds', (text, seconds) => {
    expect(duration(text)).toBe(seconds);
    expect(since(text)).toEqual({ seconds });
  });

  test.each(['', '3', 'd', '3x', '3d 4h', '-1d', '0s'])('rejects "%s" as a duration', (text) => {
    expect(() => duration(text)).toThrow();
  });

  test('parses a timestamp with millisecond precision', () => {
    expect(time('2031-03-04T10:00:00Z')).toBe('2031-03-04T10:00:00.000Z');
    expect(since('2031-03-04')).toEqual({ at: '2031-03-04T00:00:00.000Z' });
    expect(() => time('noon')).toThrow();
  });
});
