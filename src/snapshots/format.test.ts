import { describe, expect, test } from 'vitest';
import { headerLine, readHeader, readRow, snapshotFormat } from './format.ts';

const suffix = '01m7epxwjmf7za77rhky2f93cc';
const orgId = `org_${suffix}`;
const header = headerLine({
  ...{
    format: snapshotFormat,
    version: 2,
    schema: 1,
    exportedAt: '2026-11-15T09:30:00.000Z',
    hasSecrets: false,
  },
  organization: { id: orgId, name: 'Acme' },
}).trim();
const row = (fields: object) => `{"table":"payments","row":${JSON.stringify({ org_id: orgId, ...fields })}}`;

describe('a header', () => {
  test('is read', () => {
    expect(readHeader(header, 1, 1).organization.id).toBe(orgId);
  });

  test.each([
    ['an id in a list', header.replace(/"org_\w+"/, '[$&]')],
    ['a number instead of a time', header.replace(/"exportedAt":"[^"]*"/, '"exportedAt":"1"')],
  ])('with %s is refused', (_, line) => {
    expect(() => readHeader(line, 1, 1)).toThrow(/^Line 1: (organization must|exportedAt must)/);
  });
});

describe('a row', () => {
  test('is read', () => {
    expect(readRow(row({ id: `pay_${suffix}` }), 2, orgId).fields.id).toBe(`pay_${suffix}`);
  });

  // As text, a list with one id equals the id.
  test.each([[[`pay_${suffix}`]], [null], [5], [`cus_${suffix}`]])('with the id %j is refused', (id) => {
    expect(() => readRow(row({ id }), 2, orgId)).toThrow('is not a valid id in payments');
  });
});
