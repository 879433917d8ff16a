import { describe, expect, test } from 'vitest';
import { strip } from './strip.ts';

describe('strip', () => {
  test.each([
    ['a line comment', 'a; // Date.now()\nb', 'a;              \nb'],
    ['a block comment over lines', 'a /* x\ny */ b', 'a     \n     b'],
    ['an unclosed block comment', 'a /* x', 'a     '],
    ['single quotes', `f('await')`, `f('     ')`],
    ['double quotes', `f("await")`, `f("     ")`],
    ['an escaped quote', String.raw`f('a\'b', c)`, `f('    ', c)`],
    ['comment signs in a string', `f('// no', x)`, `f('     ', x)`],
    ['quotes in a comment', `a // don't\nb('x')`, `a         \nb(' ')`],
    ['a string without an end', `f('abc\nasync`, `f('   \nasync`],
    ['a string at the end of a line', `f('abc'\n'd')`, `f('   '\n' ')`],
    ['a template', '`await`', '`     `'],
    ['code in a template', '`a ${await b} c`', '`  ${await b}  `'],
    ['a template in a template', '`a${f(`b${c}`)}d`', '` ${f(` ${c}`)} `'],
    ['an object in a template', '`a${f({ b: 1 })}d`; e', '` ${f({ b: 1 })} `; e'],
    ['an escaped dollar', '`\\${await}`', '`         `'],
    ['a regular expression', 'x = /await"/.test(y)', 'x = /      /.test(y)'],
    ['a slash in a class', 'x = /[/"]/g; "y"', 'x = /    /g; " "'],
    ['a regular expression after return', 'return /"/', 'return / /'],
    ['a regular expression after a condition', 'if (a) /"/.test(b)', 'if (a) / /.test(b)'],
    ['a regular expression after a block', '{ a }\n/"/.test(b)', '{ a }\n/ /.test(b)'],
    ['a division', 'a / b / c', 'a / b / c'],
    ['a division after a call', 'f(a) / g / "h"', 'f(a) / g / " "'],
    ['a division after an index', 'a[0] / 2 / "h"', 'a[0] / 2 / " "'],
    ['a slash without a partner', 'i++ / 2; "x"', 'i++ / 2; " "'],
    ['a line of several bytes', `f('é', g) // ü\nh`, `f(' ', g)     \nh`],
  ])('blanks %s', (_, text, code) => {
    expect(strip(text)).toBe(code);
    expect(strip(text)).toHaveLength(text.length);
  });
});
