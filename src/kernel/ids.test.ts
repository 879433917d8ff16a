import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeSuffix, firstIdAt, formatId, idPrefixes, idTimestamp, isId } from './ids.ts';

const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });

describe('ids', () => {
  it('encode the examples of the TypeID specification', () => {
    const uuid = (hex: string) => Uint8Array.from(Buffer.from(hex.replaceAll('-', ''), 'hex'));
    expect(encodeSuffix(uuid('00000000-0000-0000-0000-000000000000'))).toBe('00000000000000000000000000');
    expect(encodeSuffix(uuid('0110c853-1d09-52d8-d73e-1194e95b5f19'))).toBe('0123456789abcdefghjkmnpqrs');
    expect(encodeSuffix(uuid('01890a5d-ac96-774b-bcce-b302099a8057'))).toBe('01h455vb4pex5vsknk084sn02q');
    expect(encodeSuffix(uuid('ffffffff-ffff-ffff-ffff-ffffffffffff'))).toBe('7zzzzzzzzzzzzzzzzzzzzzzzzz');
  });

  it('sort as their bytes do', () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        const [textA, textB] = [encodeSuffix(a), encodeSuffix(b)];
        expect(textA < textB ? -1 : textA > textB ? 1 : 0).toBe(Math.sign(Buffer.compare(a, b)));
      }),
    );
  });

  it('are accepted only as their own kind', () => {
    fc.assert(
      fc.property(bytes, (value) => {
        const id = formatId('payment', encodeSuffix(value));
        expect(isId('payment', id)).toBe(true);
        expect(isId('customer', id)).toBe(false);
      }),
    );
  });

  it.each([
    '',
    'pay_',
    'pay_01h455vb4pex5vsknk084sn02',
    'pay_81h455vb4pex5vsknk084sn02q',
    'pay_01h455vb4pex5vsknk084sn02u',
    'PAY_01h455vb4pex5vsknk084sn02q',
    'pay-01h455vb4pex5vsknk084sn02q',
    'pay_01h455vb4pex5vsknk084sn02q\n',
  ])('refuse %j', (text) => expect(isId('payment', text)).toBe(false));

  it('contain their creation time, and a time range maps to an id range', () => {
    const createdAt = fc.integer({ min: 0, max: 2 ** 48 - 1 });
    fc.assert(
      fc.property(createdAt, bytes, (instant, value) => {
        const uuid = Uint8Array.from(value);
        for (let i = 0; i < 6; i += 1) uuid[i] = Math.floor(instant / 2 ** (40 - 8 * i)) % 256;
        const id = formatId('request', encodeSuffix(uuid));
        expect(idTimestamp(id)).toBe(instant);
        expect(isId('request', firstIdAt('request', instant))).toBe(true);
        expect(id >= firstIdAt('request', instant)).toBe(true);
        expect(instant === 2 ** 48 - 1 || id < firstIdAt('request', instant + 1)).toBe(true);
      }),
    );
    expect(firstIdAt('request', -1)).toBe(firstIdAt('request', 0));
    expect(firstIdAt('request', 1.9)).toBe(firstIdAt('request', 1));
  });

  it('have a unique prefix for each kind', () => {
    const prefixes = Object.values(idPrefixes);
    expect(new Set(prefixes).size).toBe(prefixes.length);
  });
});
