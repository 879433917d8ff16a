import { expect, test } from 'vitest';
import { matchesEventFilterSql } from '../../src/kernel/event.ts';
import { eventFilterCases } from '../model/event-filters.ts';
import { sharedServer } from '../support/server.ts';

test.each(['pglite', 'postgres'] as const)(
  'in SQL event filters match the same types, on %s',
  async (kind) => {
    const { database } = await sharedServer(kind);
    const text = `select ${matchesEventFilterSql('$1::text::jsonb', '$2::text')} as "isMatch"`;
    for (const [filters, type, isMatch] of eventFilterCases) {
      const rows = await database.query({ name: '', text }, [JSON.stringify(filters), type]);
      expect(rows, `${JSON.stringify(filters)} and ${type}`).toEqual([{ isMatch }]);
    }
  },
);
