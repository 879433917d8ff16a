import { describe, expect, it } from 'vitest';
import { type Notice, receive } from './provider.ts';

const provider = { eventId: (subjectId: string, version: number) => `${subjectId} ${version}` };
const move = { subjectId: 'pay', version: 3 };
const notice = (eventId: string, about: number): Notice => ({
  eventId,
  about,
  transactionId: 't',
  type: 'x',
  payload: {},
});

describe('of the notices that arrive with a move', () => {
  it.each<[what: string, notices: readonly Notice[], outcomes: readonly string[]]>([
    ['the one about it is applied', [notice('pay 3', 3)], ['applied']],
    ['the same one again is a duplicate', [notice('pay 3', 3), notice('pay 3', 3)], ['applied', 'duplicate']],
    [
      'one that was sent before is a duplicate',
      [notice('pay 2', 2), notice('pay 3', 3)],
      ['duplicate', 'applied'],
    ],
    [
      'one about a state that was left is ignored',
      [notice('late', 2), notice('pay 3', 3)],
      ['ignored', 'applied'],
    ],
    [
      'a late one that is sent twice is ignored once',
      [notice('late', 2), notice('late', 2)],
      ['ignored', 'duplicate'],
    ],
    ['one about a future version is ignored', [notice('pay 4', 4)], ['ignored']],
    ['one with an unknown id is ignored', [notice('strange', 3)], ['ignored']],
    ['one of another record is ignored', [notice('other 3', 3)], ['ignored']],
    ['no notices have no outcomes', [], []],
  ])('%s', (_what, notices, outcomes) => {
    expect(receive(provider, notices, move)).toEqual(outcomes);
  });
});
