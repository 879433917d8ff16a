/** All forms behave in the same way: the submit button is enabled, and shows what is missing. */
import { expect, test } from 'vitest';
import { describeInBrowser } from '../support/browser.ts';
import { useConsole } from './console.ts';

describeInBrowser('forms', () => {
  const suite = useConsole({ organizations: ['Acme'] });

  /** The page, the buttons that lead to the form, its submit button, and the first field that is missing. */
  const forms = [
    ['payments', ['Create payment'], 'Create payment', /^Amount/],
    ['customers', ['Create customer'], 'Create customer', /^Name/],
    ['transfers', ['Create transfer'], 'Get quote', /^Amount in EUR/],
    ['webhooks', ['Create webhook'], 'Create webhook', /^URL/],
    ['keys', ['Create key'], 'Create key', /^Name/],
    ['applications', ['Create application'], 'Create application', /^Name/],
    ['organization', ['Reset organization…'], 'Delete all records', /^Type Acme/],
    ['organization', ['Delete organization…'], 'Delete organization', /^Type Acme/],
    ['../account', ['Change email…'], 'Change email', /^New email/],
    ['../account', ['Turn on…'], 'Continue', /^Password/],
  ] as const;

  for (const [path, open, submit, field] of forms)
    test(`${submit} shows what an empty form lacks, and focuses the first field`, async (context) => {
      const page = await suite.open(context, 'owner', 'Acme', path);
      for (const name of open) await page.getByRole('button', { name, exact: true }).first().click();
      const dialog = page.getByRole('dialog');
      const button = dialog.getByRole('button', { name: submit, exact: true });
      expect(await button.isEnabled()).toBe(true);
      expect(await dialog.locator('[aria-invalid=true]').count()).toBe(0);
      await button.click();
      await dialog.locator('[aria-invalid=true]:focus').waitFor();
      expect(await dialog.getByLabel(field).first().getAttribute('aria-invalid')).toBe('true');
    });
});
