import { describe, expect, test } from 'vitest';
import { decodeSuffix, formatId, idTimestamp, isId } from '../kernel/ids.ts';
import { randomIdGenerator, seededIdGenerator, seededNow } from './id-generator.ts';

const times = (count: number, next: () => string) => Array.from({ length: count }, next);
const inOrder = (suffixes: readonly string[]) => [...suffixes].sort();
/** The bits of a UUIDv7 without time and hash: version, variant. */
const versionOf = (suffix: string) => Number((decodeSuffix(suffix) >> 76n) & 0xfn);
const variantOf = (suffix: string) => Number((decodeSuffix(suffix) >> 62n) & 3n);

/** What one run of a server hands out. */
function run(seed: string, org = 'org_1') {
  const idGenerator = seededIdGenerator(seed);
  const first = idGenerator.request(org, 'write');
  const steps = idGenerator.stepSuffixes(first);
  const rows = idGenerator.rowSuffixes(first);
  return [
    ...[
      first,
      rows(),
      rows(),
      steps.next(),
      steps.bookkeeping(),
      idGenerator.background(org),
      idGenerator.request(org, 'read'),
    ],
    ...[
      idGenerator.organization('Acme'),
      idGenerator.request(org, 'write'),
      String(idGenerator.fraction('x')),
    ],
  ];
}

describe('ids from a seed', () => {
  test('are the same in every run', () => {
    expect(run('seed')).toEqual(run('seed'));
    expect(new Set(run('seed')).size).toBe(run('seed').length);
  });

  test('share nothing with another seed or another organization', () => {
    const first = new Set(run('seed'));
    expect(run('another seed').filter((id) => first.has(id))).toEqual([]);
    const others = run('seed', 'org_2').filter((id) => first.has(id));
    // The organization by name and the fraction do not depend on who asks.
    expect(others).toHaveLength(2);
  });

  test('are UUIDs of version 7 from before the seeded time', () => {
    for (const suffix of run('seed').slice(0, -1)) {
      expect(isId('payment', formatId('payment', suffix))).toBe(true);
      expect([versionOf(suffix), variantOf(suffix)]).toEqual([7, 2]);
      expect(idTimestamp(suffix)).toBeLessThan(seededNow);
      expect(idTimestamp(suffix)).toBeGreaterThanOrEqual(seededNow - 8_192);
    }
    expect(seededNow).toBe(Date.UTC(2026, 0, 1));
  });

  test('sort in the order of requests, their rows, their steps and what follows without a request', () => {
    const idGenerator = seededIdGenerator('seed');
    const made: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      const request = idGenerator.request('org_1', 'write');
      const steps = idGenerator.stepSuffixes(request);
      made.push(request, ...times(3, idGenerator.rowSuffixes(request)));
      for (let j = 0; j < 3; j += 1) {
        const step = steps.next();
        made.push(step, ...times(3, idGenerator.rowSuffixes(step)));
      }
      made.push(...times(3, steps.bookkeeping), ...times(3, () => idGenerator.background('org_1')));
    }
    expect(made).toEqual(inOrder(made));
    expect(new Set(made).size).toBe(made.length);
  });

  test('of writes do not depend on reads, nor on what steps keep going', () => {
    const [quiet, busy] = [seededIdGenerator('seed'), seededIdGenerator('seed')];
    busy.request('org_1', 'read');
    const [one, other] = [quiet, busy].map((idGenerator) => {
      const request = idGenerator.request('org_1', 'write');
      const steps = idGenerator.stepSuffixes(request);
      if (idGenerator === busy) times(10, steps.bookkeeping);
      return [request, steps.next(), idGenerator.request('org_1', 'write')];
    });
    expect(one).toEqual(other);
  });

  test('of reads differ from each other and from those of writes', () => {
    const idGenerator = seededIdGenerator('seed');
    const made = times(10, () => idGenerator.request('org_1', 'read'));
    made.push(...times(10, () => idGenerator.request('org_1', 'write')));
    expect(new Set(made).size).toBe(20);
  });

  test('of organizations follow from the name and how many had it before', () => {
    const [one, other] = [seededIdGenerator('seed'), seededIdGenerator('seed')];
    const acme = [one.organization('Acme'), one.organization('Acme')];
    other.organization('Globex');
    expect([other.organization('Acme'), other.organization('Acme')]).toEqual(acme);
    expect(acme[0]).not.toBe(acme[1]);
  });

  test('without a request begin again with every write, and count as writes after 2,046 of them', () => {
    const idGenerator = seededIdGenerator('seed');
    idGenerator.request('org_1', 'write');
    const made = times(5_000, () => idGenerator.background('org_1'));
    expect(new Set(made).size).toBe(5_000);
    expect(made).toEqual(inOrder(made));
    const reads = times(5, () => idGenerator.request('org_1', 'read'));
    expect(made.filter((suffix) => reads.includes(suffix))).toEqual([]);
    const numberOf = (suffix = '') => ((decodeSuffix(suffix) >> 30n) & 0xffff_ffffn) >> 26n;
    expect(numberOf(made[2_045])).toBe(numberOf(made[0]));
    expect(numberOf(made[2_046])).toBe(numberOf(made[0]) + 1n);
  });

  test('of the same command are the same again', () => {
    const idGenerator = seededIdGenerator('seed');
    const request = idGenerator.request('org_1', 'write');
    expect(times(3, idGenerator.rowSuffixes(request))).toEqual(times(3, idGenerator.rowSuffixes(request)));
    expect(times(3, idGenerator.stepSuffixes(request).next)).toEqual(
      times(3, idGenerator.stepSuffixes(request).next),
    );
  });

  test('of steps and of what keeps them going never meet', () => {
    const idGenerator = seededIdGenerator('seed');
    const steps = idGenerator.stepSuffixes(idGenerator.request('org_1', 'write'));
    const made = [...times(4_095, steps.next), ...times(2_047, steps.bookkeeping)];
    expect(made).toEqual(inOrder(made));
    expect(new Set(made).size).toBe(made.length);
  });

  test('of an event and of an endpoint differ in the bits that make the id of a delivery', () => {
    const idGenerator = seededIdGenerator('seed');
    const made = times(1_000, () => idGenerator.request('org_1', 'write'));
    const firstBits = (suffix: string) => decodeSuffix(suffix) >> 30n;
    const lastBits = (suffix: string) => decodeSuffix(suffix) & 0x3fff_ffffn;
    expect(new Set(made.map(firstBits)).size).toBe(1_000);
    expect(new Set(made.map(lastBits)).size).toBe(1_000);
  });

  test('fractions are spread from 0 to 1', () => {
    const idGenerator = seededIdGenerator('seed');
    const all = Array.from({ length: 1_000 }, (_, i) => idGenerator.fraction(`x ${i}`));
    expect(Math.min(...all)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...all)).toBeLessThan(1);
    expect(all.filter((one) => one < 0.5).length).toBeGreaterThan(400);
    expect(all.filter((one) => one > 0.5).length).toBeGreaterThan(400);
  });
});

test('ids without a seed are never the same', () => {
  const steps = randomIdGenerator.stepSuffixes('');
  const next = [
    ...[
      () => randomIdGenerator.request('org_1', 'write'),
      () => randomIdGenerator.background('org_1'),
      randomIdGenerator.rowSuffixes(''),
    ],
    ...[() => randomIdGenerator.organization('Acme'), steps.next, steps.bookkeeping],
  ];
  const made = next.flatMap((one) => times(10, one));
  expect(made).toEqual(inOrder(made));
  expect(new Set(made).size).toBe(60);
  expect([randomIdGenerator.isSeeded, seededIdGenerator('').isSeeded]).toEqual([false, true]);
});
