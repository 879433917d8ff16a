import { describe, expect, it } from 'vitest';
import { RowCache } from './row-cache.ts';

const row = (id: string, orgId = 'o', text = '') => ({ orgId, id, text });

describe('the row cache', () => {
  it('finds a row only in its own table and for its own organization', () => {
    const cache = new RowCache(100_000);
    cache.set('payments', { row: row('a'), revision: '1' });
    expect(cache.get('payments', 'o', 'a')).toMatchObject({ revision: '1' });
    expect(cache.get('payments', 'other', 'a')).toBeUndefined();
    expect(cache.get('refunds', 'o', 'a')).toBeUndefined();
  });

  it('stays below its bound, whatever the size of the rows', () => {
    const bytesMax = 200_000;
    const cache = new RowCache(bytesMax);
    for (let i = 0; i < 10_000; i += 1) {
      cache.set('payments', { row: row(`a${i}`, 'o', 'x'.repeat((i * 37) % 5_000)), revision: '1' });
      expect(cache.bytes).toBeLessThanOrEqual(bytesMax);
    }
  });

  it('does not keep a row that is larger than half of it', () => {
    const cache = new RowCache(10_000);
    cache.set('payments', { row: row('a', 'o', 'x'.repeat(100_000)), revision: '1' });
    expect(cache.get('payments', 'o', 'a')).toBeUndefined();
    expect(cache.bytes).toBe(0);
  });

  it('drops the former state of a row that has become too large, and no other row', () => {
    const cache = new RowCache(10_000);
    cache.set('payments', { row: row('other'), revision: '1' });
    const { bytes } = cache;
    cache.set('payments', { row: row('a'), revision: '1' });
    cache.set('payments', { row: row('a', 'o', 'x'.repeat(100_000)), revision: '2' });
    expect(cache.get('payments', 'o', 'a')).toBeUndefined();
    expect(cache.get('payments', 'o', 'other')).toBeDefined();
    expect(cache.bytes).toBe(bytes);
  });

  it('counts every character of a row, in JSON columns as well', () => {
    const bytesOf = (values: object) => {
      const cache = new RowCache(1_000_000);
      cache.set('payments', { row: { ...row('a'), ...values }, revision: '1' });
      return cache.bytes;
    };
    const empty = bytesOf({ version: 1, isFinal: true, canceledAt: null, metadata: {} });
    const text = 'x'.repeat(10_000);
    // The row and its rendered text are both cached.
    expect(bytesOf({ text }) - empty).toBeGreaterThanOrEqual(2 * text.length);
    expect(bytesOf({ metadata: { text } }) - empty).toBeGreaterThanOrEqual(2 * text.length);
    expect(bytesOf({ lines: [{ text }] }) - empty).toBeGreaterThanOrEqual(2 * text.length);
  });

  it('stays below its bound while old rows are read again, replaced and deleted', () => {
    const bytesMax = 100_000;
    const cache = new RowCache(bytesMax);
    for (let i = 0; i < 10_000; i += 1) {
      const id = `a${(i * 31) % 97}`;
      if (i % 5 === 0) cache.delete(id);
      else if (i % 5 < 3) cache.get('payments', 'o', id);
      else cache.set('payments', { row: row(id, 'o', 'x'.repeat((i * 37) % 5_000)), revision: String(i) });
      expect(cache.bytes).toBeLessThanOrEqual(bytesMax);
    }
    for (let n = 0; n < 97; n += 1) cache.delete(`a${n}`);
    expect(cache.bytes).toBe(0);
  });

  it('keeps the rows that are read while others come and go', () => {
    const cache = new RowCache(100_000);
    cache.set('payments', { row: row('read'), revision: '1' });
    cache.set('payments', { row: row('unread'), revision: '1' });
    for (let i = 0; i < 1_000; i += 1) {
      cache.set('payments', { row: row(`a${i}`), revision: '1' });
      expect(cache.get('payments', 'o', 'read')).toBeDefined();
    }
    expect(cache.get('payments', 'o', 'unread')).toBeUndefined();
  });

  it('counts a row once when it is replaced, and not at all when it is deleted', () => {
    const cache = new RowCache(100_000);
    cache.set('payments', { row: row('a'), revision: '1' });
    const { bytes } = cache;
    cache.set('payments', { row: row('a'), revision: '2' });
    expect(cache.bytes).toBe(bytes);
    expect(cache.get('payments', 'o', 'a')?.revision).toBe('2');
    cache.delete('a');
    expect(cache.bytes).toBe(0);
  });
});
