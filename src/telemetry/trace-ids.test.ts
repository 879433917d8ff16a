import { describe, expect, it } from 'vitest';
import { idsOfRequest, parseTraceparent, traceparentOf } from './trace-ids.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

describe('the ids of a trace', () => {
  it('are derived from the request id; its last 64 bits are the span id', () => {
    // The example from the TypeID specification.
    const ids = idsOfRequest('req_01h455vb4pex5vsknk084sn02q');
    expect(ids).toEqual({ traceId: '01890a5dac96774bbcceb302099a8057', spanId: 'bcceb302099a8057' });
  });

  it('are read from the traceparent header of a caller and passed on', () => {
    const context = parseTraceparent(`00-${traceId}-${spanId}-01`);
    expect(context).toEqual({ traceId, spanId, traceFlags: 1, isRemote: true });
    expect(context && traceparentOf(context)).toBe(`00-${traceId}-${spanId}-01`);
    expect(parseTraceparent(`cc-${traceId}-${spanId}-00-future-fields`)?.traceFlags).toBe(0);
  });

  it.each([
    undefined,
    '',
    'nonsense',
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}`,
  ])('are not read from %s', (text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });
});
