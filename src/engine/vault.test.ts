import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Vault, VaultProblem } from './vault.ts';

const vault = new Vault('a secret of at least thirty-two characters');

describe('the vault', () => {
  it('decrypts its ciphertext, which does not contain the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 8 }), (text) => {
        const sealed = vault.seal(text, 'here');
        expect(sealed).not.toContain(text);
        expect(vault.isSealed(sealed)).toBe(true);
        expect(vault.open(sealed, 'here')).toBe(text);
      }),
    );
  });

  it('never produces the same ciphertext twice', () => {
    expect(vault.seal('whsec_same', 'here')).not.toBe(vault.seal('whsec_same', 'here'));
  });

  it('rejects another owner, another secret, and a modified ciphertext', () => {
    const sealed = vault.seal('whsec_mine', 'org_a whk_a');
    expect(() => vault.open(sealed, 'org_b whk_a')).toThrow(VaultProblem);
    expect(() => new Vault('another secret of thirty-two letters').open(sealed, 'org_a whk_a')).toThrow(
      VaultProblem,
    );
    for (let at = 'sealed.v1.'.length; at < sealed.length - 1; at += 1) {
      const changed = `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`;
      expect(() => vault.open(changed, 'org_a whk_a')).toThrow(VaultProblem);
    }
    expect(() => vault.open('sealed.v1.', 'org_a whk_a')).toThrow(VaultProblem);
  });

  it('recognizes a plain response as not sealed', () => {
    expect(vault.isSealed('{"object":"webhook"}')).toBe(false);
  });
});
