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
