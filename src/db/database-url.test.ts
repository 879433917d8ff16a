import { describe, expect, it } from 'vitest';
import { readDatabaseUrl } from './database-url.ts';

const password = 'hunter2secret';
const base = `postgres://me:${password}@`;

describe('the database URL', () => {
  it('with one host is used unchanged', () => {
    expect(readDatabaseUrl(`${base}db:5432/bank?sslmode=require`)).toEqual({
      urls: [`${base}db:5432/bank?sslmode=require`],
      shown: 'db:5432/bank',
      requiresWrites: false,
    });
    expect(readDatabaseUrl('postgres:///bank?host=/run/postgresql')).toMatchObject({
      urls: ['postgres:///bank?host=%2Frun%2Fpostgresql'],
    });
    expect(readDatabaseUrl(`${base}db/bank?target_session_attrs=any`)).toMatchObject({
      requiresWrites: false,
    });
  });

  it('with several hosts gives one URL per host and requires one that accepts writes', () => {
    const read = readDatabaseUrl(`postgresql://me:a%40b@a:1,[::1]:2,c/bank?target_session_attrs=primary`);
    expect(read).toEqual({
      urls: ['a:1', '[::1]:2', 'c'].map((host) => `postgresql://me:a%40b@${host}/bank`),
      shown: 'a:1, [::1]:2, c/bank',
      requiresWrites: true,
    });
    expect(readDatabaseUrl(`${base}a,b/bank`)).toMatchObject({ requiresWrites: true });
    expect(readDatabaseUrl(`${base}a/bank?target_session_attrs=read-write`)).toMatchObject({
      requiresWrites: true,
    });
  });

  it.each([
    ['mysql://a/b', 'must be a PostgreSQL URL'],
    ['a,b', 'must be a PostgreSQL URL'],
    [`${base}a,,b/bank`, 'The host number 2'],
    [`${base}a, b/bank`, 'The host number 2'],
    [`${base}a:x,b/bank`, 'The host number 1'],
    [`${base}a,b:123456/bank`, 'The host number 2'],
    [`${base}a,b:99999/bank`, 'a port is a number'],
    [`${base}${'a,'.repeat(9)}a/bank`, 'at most 9 hosts'],
    [`${base}a/bank?host=b,c`, 'not as ?host='],
    [`${base}a,b/bank?target_session_attrs=standby`, 'must be read-write or primary'],
    [`${base}a,b/bank?target_session_attrs=any`, 'must be read-write or primary'],
    [`${base}a/bank?target_session_attrs=never`, 'must be read-write or primary or any'],
  ])('%s is rejected with a message that does not contain the password', (text, message) => {
    const read = readDatabaseUrl(text);
    if (!('problem' in read)) throw new Error('the URL was accepted');
    expect(read.problem).toContain(message);
    expect(read.problem).not.toContain(password);
  });
});
