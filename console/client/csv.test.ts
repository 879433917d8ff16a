import { expect, test } from 'vitest';
import { csvOf } from './csv.ts';

test('a column for every field of any row, and none for the envelope', () => {
  const rows = [
    {
      object: 'payment',
      id: 'pay_1',
      sandbox: true,
      amount: 1250,
      paymentMethod: { type: 'card', lastFour: '4242' },
    },
    { object: 'payment', id: 'pay_2', requestId: 'req_1', amount: 5, reference: 'order-1' },
  ];
  expect(csvOf(rows)).toBe(
    'id,amount,paymentMethod.type,paymentMethod.lastFour,reference\r\npay_1,1250,card,4242,\r\npay_2,5,,,order-1\r\n',
  );
});

test.each([
  ['a "quoted" word', '"a ""quoted"" word"'],
  ['a, b', '"a, b"'],
  ['two\nlines', '"two\nlines"'],
  ['plain', 'plain'],
  [null, ''],
  [true, 'true'],
  [['a', 'b'], '"[""a"",""b""]"'],
])('%j is written as %j', (value, cell) => {
  expect(csvOf([{ value }])).toBe(`value\r\n${cell}\r\n`);
});

test.each(['=1+1', '@sum(A1)', '+cmd', '-2+3', '\tx', '＝1+1', '＋cmd', '－2+3', '＠sum(A1)'])(
  '%j is not run as a formula',
  (text) => {
    expect(csvOf([{ text }])).toBe(`text\r\n'${text}\r\n`);
    expect(csvOf([{ [text]: 1 }])).toBe(`'${text}\r\n1\r\n`);
  },
);

test.each(['\n=1+1', '\r=1+1'])('%j is not run as a formula', (text) => {
  expect(csvOf([{ text }])).toBe(`text\r\n"'${text}"\r\n`);
});

test.each(['-5', '+12.50', -1e21])('the number %j stays a number', (text) => {
  expect(csvOf([{ text }])).toBe(`text\r\n${text}\r\n`);
});
