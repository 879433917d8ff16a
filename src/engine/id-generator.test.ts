import { describe, expect, test } from 'vitest';
import { decodeSuffix, formatId, idTimestamp, isId } from '../kernel/ids.ts';
import { randomIdGenerator, seededIdGenerator, seededNow } from './id-generator.ts';

const times = (count: number, next: () => string) => Array.from({ length: count }, next);
const inOrder = (unsorted: readonly string[]) => [...unsorted].sort();
/** The bits of a UUIDv7 without time and hash: version, variant. */
const versionOf = (suffix: string) => Number((decodeSuffix(suffix) >> 76n) & 0xfn);
const variantOf = (suffix: string) => Number((decodeSuffix(suffix) >> 62n) & 3n);

/** The ids that one run of a server generates. */
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
    // The organization id and the fraction do not depend on the calling organization.
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

  test('sort in the order of requests, their rows, their steps and later background commands', () => {
    const idGenerator = seededIdGenerator('seed');
    const suffixes: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      const request = idGenerator.request('org_1', 'write');
      const steps = idGenerator.stepSuffixes(request);
      suffixes.push(request, ...times(3, idGenerator.rowSuffixes(request)));
      for (let j = 0; j < 3; j += 1) {
        const step = steps.next();
        suffixes.push(step, ...times(3, idGenerator.rowSuffixes(step)));
      }
      suffixes.push(...times(3, steps.bookkeeping), ...times(3, () => idGenerator.background('org_1')));
    }
    expect(suffixes).toEqual(inOrder(suffixes));
    expect(new Set(suffixes).size).toBe(suffixes.length);
  });

  test('of writes do not depend on reads, nor on bookkeeping commands', () => {
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
    const suffixes = times(10, () => idGenerator.request('org_1', 'read'));
    suffixes.push(...times(10, () => idGenerator.request('org_1', 'write')));
    expect(new Set(suffixes).size).toBe(20);
  });

  test('of organizations depend on the name and the number of earlier ones with that name', () => {
    const [one, other] = [seededIdGenerator('seed'), seededIdGenerator('seed')];
    const acme = [one.organization('Acme'), one.organization('Acme')];
    other.organization('Globex');
    expect([other.organization('Acme'), other.organization('Acme')]).toEqual(acme);
    expect(acme[0]).not.toBe(acme[1]);
  });

  test('of background commands restart with every write, and count as writes after 2,046 of them', () => {
    const idGenerator = seededIdGenerator('seed');
    idGenerator.request('org_1', 'write');
    const suffixes = times(5_000, () => idGenerator.background('org_1'));
    expect(new Set(suffixes).size).toBe(5_000);
    expect(suffixes).toEqual(inOrder(suffixes));
    const reads = times(5, () => idGenerator.request('org_1', 'read'));
    expect(suffixes.filter((suffix) => reads.includes(suffix))).toEqual([]);
    const numberOf = (suffix = '') => ((decodeSuffix(suffix) >> 30n) & 0xffff_ffffn) >> 26n;
    expect(numberOf(suffixes[2_045])).toBe(numberOf(suffixes[0]));
    expect(numberOf(suffixes[2_046])).toBe(numberOf(suffixes[0]) + 1n);
  });

  test('of the same command are the same again', () => {
    const idGenerator = seededIdGenerator('seed');
    const request = idGenerator.request('org_1', 'write');
    expect(times(3, idGenerator.rowSuffixes(request))).toEqual(times(3, idGenerator.rowSuffixes(request)));
    expect(times(3, idGenerator.stepSuffixes(request).next)).toEqual(
      times(3, idGenerator.stepSuffixes(request).next),
    );
  });

  test('of steps and of bookkeeping commands never collide', () => {
    const idGenerator = seededIdGenerator('seed');
    const steps = idGenerator.stepSuffixes(idGenerator.request('org_1', 'write'));
    const suffixes = [...times(4_095, steps.next), ...times(2_047, steps.bookkeeping)];
    expect(suffixes).toEqual(inOrder(suffixes));
    expect(new Set(suffixes).size).toBe(suffixes.length);
  });

  test('of events and of endpoints differ in the bits that form a delivery id', () => {
    const idGenerator = seededIdGenerator('seed');
    const suffixes = times(1_000, () => idGenerator.request('org_1', 'write'));
    const firstBits = (suffix: string) => decodeSuffix(suffix) >> 30n;
    const lastBits = (suffix: string) => decodeSuffix(suffix) & 0x3fff_ffffn;
    expect(new Set(suffixes.map(firstBits)).size).toBe(1_000);
    expect(new Set(suffixes.map(lastBits)).size).toBe(1_000);
  });

  test('fractions are distributed from 0 to 1', () => {
    const idGenerator = seededIdGenerator('seed');
    const all = Array.from({ length: 1_000 }, (_, i) => idGenerator.fraction(`x ${i}`));
    expect(Math.min(...all)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...all)).toBeLessThan(1);
    expect(all.filter((one) => one < 0.5).length).toBeGreaterThan(400);
    expect(all.filter((one) => one > 0.5).length).toBeGreaterThan(400);
  });
});

test('ids without a seed are unique', () => {
  const steps = randomIdGenerator.stepSuffixes('');
  const next = [
    ...[
      () => randomIdGenerator.request('org_1', 'write'),
      () => randomIdGenerator.background('org_1'),
      randomIdGenerator.rowSuffixes(''),
    ],
    ...[() => randomIdGenerator.organization('Acme'), steps.next, steps.bookkeeping],
  ];
  const suffixes = next.flatMap((one) => times(10, one));
  expect(suffixes).toEqual(inOrder(suffixes));
  expect(new Set(suffixes).size).toBe(60);
  expect([randomIdGenerator.isSeeded, seededIdGenerator('').isSeeded]).toEqual([false, true]);
});
