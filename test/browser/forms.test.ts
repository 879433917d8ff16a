/** All forms behave in the same way: the submit button is enabled and shows what is missing, and errors are in view. */
import { expect, test } from 'vitest';
import { describeInBrowser } from '../support/browser.ts';
import { useConsole } from './console.ts';

describeInBrowser('forms', () => {
  const suite = useConsole({ organizations: ['Acme', 'Archived'] });

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

  test('an error of a form that is longer than the window is above the footer, in view', async (context) => {
    const viewport = { width: 1280, height: 560 };
    const page = await suite.open(context, 'owner', 'Archived', 'payments', { viewport });
    await page.getByRole('button', { name: 'Create payment' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Create payment' });
    await dialog.getByLabel(/^Amount in/).fill('12.50');
    const fields = dialog.locator('form').locator('..');
    const isLonger = await fields.evaluate((one) => one.scrollHeight > one.clientHeight);
    expect(isLonger, 'the form has to scroll for this test').toBe(true);
    // In an archived application nothing can be created: an error that belongs to no field.
    const { id, applicationId } = suite.organization('Archived');
    await suite.session('owner').post(`${id}/applications/${applicationId}/archive`);
    const submit = dialog.getByRole('button', { name: 'Create payment' });
    await submit.click();
    const error = await dialog.getByRole('alert').boundingBox();
    const footer = await submit.boundingBox();
    const [top, bottom] = [error?.y ?? -1, (error?.y ?? 0) + (error?.height ?? Number.NaN)];
    expect(top).toBeGreaterThanOrEqual(0);
    expect(bottom).toBeLessThanOrEqual(footer?.y ?? 0);
    expect((footer?.y ?? 0) + (footer?.height ?? 0)).toBeLessThanOrEqual(viewport.height);
  });
});
