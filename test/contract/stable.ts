import { encodeCursor } from '../../src/kernel/list.ts';

/** Fixed values for the fields of a delivery attempt that depend on real time. */
const fixedValues: Readonly<Record<string, unknown>> = {
  durationMs: 12,
  idempotencyKey: 'order-1001',
  'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  'webhook-timestamp': '1794735008',
};
const sentAt = '2026-11-15T09:30:08.000Z';
const secret = `whsec_${Buffer.from('a secret that is only an example').toString('base64')}`;

// The run advances the clock by one second several times, so the clock is a few seconds ahead of real time.
const aheadMs = 60_000;

/** Start and end of the run in real time. */
export interface RealSpan {
  readonly from: number;
  readonly to: number;
}

/**
 * Replaces values that differ between runs: ids become sequential in order of appearance, secrets become a fixed example, and real
 * instants become the example time. Only instants within the run count as real: with a margin of five minutes, a fixed instant of an
 * example was replaced too when that day came.
 */
export function stable(value: unknown, receiverUrl: string, { from, to }: RealSpan): unknown {
  const numbers = new Map<string, number>();
  const numberOf = (id: string, width: number) => {
    const number = numbers.get(id) ?? numbers.size + 1;
    numbers.set(id, number);
    return String(number).padStart(width, '0');
  };
  const stableText = (text: string) =>
    text
      .replaceAll(receiverUrl, 'https://shop.example/webhooks')
      .replace(
        /\b([a-z]{3})_[0-9a-hjkmnp-tv-z]{26}\b/g,
        (id, kind) => `${kind}_01kd3rn3c0e00800${numberOf(id, 10)}`,
      )
      // Ids of the simulated providers.
      .replace(/\b([a-z]{2})_[A-Za-z0-9]{24}\b/g, (id, kind) => `${kind}_3MmlLrLkdIwHu7ix${numberOf(id, 8)}`)
      .replace(/\bTW\d{14}\b/g, (id) => `TW${numberOf(id, 14)}`)
      .replace(/\b\d{18}\b/g, (id) => `4${numberOf(id, 17)}`)
      .replace(/\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT/g, new Date(sentAt).toUTCString())
      .replace(/\bwhsec_[A-Za-z0-9+/=]+/g, secret)
      .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) =>
        Date.parse(time) >= from && Date.parse(time) <= to + aheadMs ? sentAt : time,
      );
  const walk = (part: unknown, key: string): unknown => {
    if (key in fixedValues) return fixedValues[key];
    if (key === 'secretHint') return secret.slice(-4);
    if (key === 'nextCursor' && typeof part === 'string')
      return encodeCursor(stableText(Buffer.from(part, 'base64url').toString('latin1')));
    if (typeof part === 'string') return stableText(part);
    if (Array.isArray(part)) return part.map((item) => walk(item, ''));
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, walk(inner, name)]));
  };
  return walk(value, '');
}
