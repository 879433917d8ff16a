import { describe, expect, test } from 'vitest';
import { refuseWeakPassword } from './password-rule.ts';

const ada = { email: 'ada.lovelace@engines.test', name: 'Ada Lovelace' };
const refusalOf = (password: string, chooser = ada) => refuseWeakPassword(password, chooser, '/password');

describe('a common password is refused', () => {
  test.each([
    ['password1234'],
    ['Password1234!'],
    ['P@ssw0rd1234'],
    ['p4$$w0rd2024'],
    ['P@ssw0rd2024!'],
    ['pass word 1234'],
    ['passwordpassword'],
    ['password-password'],
    ['123456789012'],
    ['987654321098'],
    ['aaaaaaaaaaaa'],
    ['aaaaaabbbbbb'],
    ['abababababab'],
    ['abcdefghijkl'],
    ['qwertyuiop12'],
    ['1q2w3e4r5t6y'],
    ['!@#$%^&*()_+'],
    ['iloveyou2024'],
    ['Welcome12345'],
    ['letmeinletmein'],
    ['administrator'],
    ['changeme1234'],
    ['sandbank2026!'],
    ['football1999'],
  ])('%s', (password) => {
    expect(refusalOf(password)).toMatchObject({ code: 'password_too_weak', param: '/password' });
  });
});

describe('a password with the name or the address of its person is refused', () => {
  test.each([
    ['ada.lovelace@engines.test'],
    ['my Lovelace engine no 7'],
    ['xkq lovelace vbt'],
    ['ADALOVELACE-xkq-vbt'],
    ['x ada.lovelace x qpzm'],
  ])('%s', (password) => {
    expect(refusalOf(password)).toMatchObject({
      code: 'password_too_weak',
      message: 'The password contains your name or email address. Choose another one.',
    });
  });

  test('but a short name is a part of too much other text', () => {
    expect(refusalOf('canada goose river', { email: 'ada@x.test', name: 'Ada' })).toBeUndefined();
  });
});

describe('other passwords are accepted', () => {
  test.each([
    ['correct horse battery'],
    ['test-password-123'],
    ['a brand new password'],
    ['first student of march'],
    ['tr0ub4dor&3xyz'],
    ['83746192837405'],
    ['%^}$#~!{]:"?>'],
    ['пароль из слов'],
    ['9f86d081884c7d659a2feaa0'],
  ])('%s', (password) => {
    expect(refusalOf(password)).toBeUndefined();
  });
});
