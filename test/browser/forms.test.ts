/** All forms behave in the same way: the submit button is enabled and shows what is missing, and errors are in view. */
import type { Locator } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { describeInBrowser, step, untilLoaded } from '../support/browser.ts';
import { totp } from '../support/visitor.ts';
import { openForm, people, useConsole } from './console.ts';

interface FormRow {
  /** A path of the organization Acme; `:payment` is the id of a payment. */
  readonly path: string;
  /** The buttons and menu items that lead to the form. Without any, the form is part of the page. */
  readonly open?: readonly (string | RegExp)[];
  readonly submit: string;
  /** The first field that is missing or invalid. */
  readonly field: string | RegExp;
  /** An invalid value of the field, for forms that start complete. */
  readonly value?: string;
}

/** Every form in which a field can be missing or invalid, except those of signed-out people. */
const forms: readonly FormRow[] = [
  { path: 'payments', open: ['Create payment'], submit: 'Create payment', field: /^Amount/ },
  { path: 'payments', open: ['Amount'], submit: 'Apply', field: /^At least/, value: 'x' },
  {
    path: 'payments/:payment',
    open: ['Actions', 'Capture…'],
    submit: 'Capture',
    field: /^Amount/,
    value: '9999',
  },
  { path: 'payments/:payment', open: ['Actions', 'Go to state…'], submit: 'Go', field: 'State' },
  { path: 'customers', open: ['Create customer'], submit: 'Create customer', field: /^Name/ },
  { path: 'customers/:customer', open: ['Edit'], submit: 'Save', field: /^Name/, value: '' },
  { path: 'transfers', open: ['Create transfer'], submit: 'Get quote', field: /^Amount in EUR/ },
  { path: 'webhooks', open: ['Create webhook'], submit: 'Create webhook', field: 'URL' },
  { path: 'webhooks/:webhook', open: ['Edit'], submit: 'Save', field: 'URL', value: '' },
  { path: 'webhooks/:webhook', open: ['Reveal'], submit: 'Reveal secret', field: 'Password' },
  {
    path: 'webhooks/:webhook',
    open: ['More actions', 'Replay events…'],
    submit: 'Count events',
    field: /^From/,
    value: '',
  },
  { path: 'events', open: ['Create event'], submit: 'Create event', field: 'Data', value: '{' },
  { path: 'faults', open: ['Create fault plan'], submit: 'Create fault plan', field: 'Count', value: 'many' },
  { path: 'keys', open: ['Create key'], submit: 'Create key', field: 'Name' },
  { path: 'keys', open: ['Actions for Checkout', 'Edit…'], submit: 'Save', field: 'Name', value: '' },
  { path: 'applications', open: ['Create application'], submit: 'Create application', field: 'Name' },
  { path: 'applications/:application', submit: 'Save changes', field: 'Application name', value: '' },
  { path: 'members', open: ['Invite'], submit: 'Create and copy link', field: /^Email/, value: 'nobody' },
  { path: 'organization', submit: 'Rename', field: 'Name', value: '' },
  {
    path: 'organization',
    open: ['Fork organization…'],
    submit: 'Fork',
    field: 'Name of the copy',
    value: '',
  },
  { path: 'organization', open: ['Restore snapshot…'], submit: 'Restore', field: 'Snapshot file' },
  {
    path: 'organization',
    open: ['Reset organization…'],
    submit: 'Delete all records',
    field: /^Type Acme/,
  },
  {
    path: 'organization',
    open: ['Delete organization…'],
    submit: 'Delete organization',
    field: /^Type Acme/,
  },
  { path: 'requests', open: [/^Application clock/], submit: 'Advance', field: /^Advance to/ },
  { path: '../account', submit: 'Save name', field: 'Name', value: '' },
  { path: '../account', submit: 'Change password', field: 'Current password' },
  { path: '../account', open: ['Change email…'], submit: 'Change email', field: 'New email' },
  { path: '../account', open: ['Turn on…'], submit: 'Continue', field: 'Password' },
];

/** What the test uses of a page, because tests are compiled without the types of browsers. */
interface PageWindow {
  readonly document: { readonly activeElement: { matches(selector: string): boolean } | null };
  readonly MutationObserver: new (
    react: () => void,
  ) => { observe(target: unknown, options: object): void; disconnect(): void };
}

/**
 * Resolves with a function that says whether an invalid field had the focus at the moment of the first error below this element. If
 * it gets the focus a frame later, what a person or a password manager enters meanwhile reaches another field.
 */
async function watchFirstError(form: Locator): Promise<() => Promise<boolean>> {
  const handle = await form.first().evaluateHandle((element) => {
    const { document, MutationObserver } = element.ownerDocument.defaultView as unknown as PageWindow;
    const hadFocus = new Promise<boolean>((resolve) => {
      const observer = new MutationObserver(() => {
        if (element.querySelector('[aria-invalid=true]') === null) return;
        observer.disconnect();
        resolve(document.activeElement?.matches('[aria-invalid=true]') === true);
      });
      observer.observe(element, { subtree: true, childList: true, attributeFilter: ['aria-invalid'] });
    });
    return { hadFocus };
  });
  return () => handle.evaluate(({ hadFocus }) => hadFocus);
}

/** Submits a form that starts without errors, and expects that the field shows its error and has the focus. */
async function expectMissing(
  form: Locator,
  { submit, field, value }: Pick<FormRow, 'submit' | 'field' | 'value'>,
): Promise<void> {
  const control = form.getByLabel(field, { exact: true }).first();
  await control.waitFor();
  expect(await form.locator('[aria-invalid=true]').count(), `${submit} begins with errors`).toBe(0);
  if (value !== undefined) await control.fill(value);
  const button = form.getByRole('button', { name: submit, exact: true });
  // The message of a success appears while its button is still busy.
  await expect.poll(() => button.isEnabled()).toBe(true);
  // Some fields are checked while they are being filled in.
  const isShown = (await form.locator('[aria-invalid=true]').count()) > 0;
  const hadFocus = isShown ? undefined : await watchFirstError(form);
  await button.click();
  await form.getByLabel(field, { exact: true }).and(form.locator('[aria-invalid=true]:focus')).waitFor();
  if (hadFocus) expect(await hadFocus(), `${submit}: error and focus appear together`).toBe(true);
}

describeInBrowser('forms', () => {
  const suite = useConsole({ organizations: ['Acme', 'Archived'] });
  const ids = new Map<string, string>();

  beforeAll(async () => {
    const { id, applicationId, api } = suite.organization('Acme');
    const key = { name: 'Checkout', scopes: ['payments:read'] };
    await suite.session('owner').post(`${id}/${applicationId}/api_keys`, key);
    const payment = await api.post('payments', { amount: 1250, currency: 'EUR' });
    await api.post(`payments/${payment.id}/advance`, { to: 'authorized' });
    const customer = await api.post('customers', { name: 'Ada' });
    const webhook = await api.post('webhooks', { url: 'http://127.0.0.1:9/' });
    ids.set('application', applicationId).set('payment', payment.id);
    ids.set('customer', customer.id).set('webhook', webhook.id);
  });

  for (const { path, open = [], ...form } of forms)
    test(`${form.submit} on ${path} shows what a form lacks, and focuses the first field`, async (context) => {
      const address = path.replace(/:(\w+)/, (_, name: string) => ids.get(name) ?? name);
      const page = await suite.open(context, 'owner', 'Acme', address);
      await expectMissing(await openForm(page, open), form);
    });

  test('the forms of signed-out and new people show what they lack, and a later step begins without errors', async (context) => {
    const { password } = people.owner;
    const { page, context: tab } = await suite.openTab(context);
    // A passkey belongs to a host name, not to an address.
    const url = suite.url.replace('127.0.0.1', 'localhost');
    const main = page.getByRole('main');
    const dialog = page.getByRole('dialog');
    const open = async (path: string) => {
      await page.goto(`${url}/console/${path}`);
      await untilLoaded(page);
    };
    await step('sign up', async () => {
      await open('sign-up');
      await expectMissing(main, { submit: 'Create account', field: 'Name' });
      await main.getByLabel('Name').fill('Ada');
      await main.getByLabel('Email').fill('ada@forms.test');
      await main.getByLabel('Password', { exact: true }).fill(password);
      await main.getByRole('button', { name: 'Create account' }).click();
    });
    await step('the first organization and application', async () => {
      await page.getByRole('heading', { level: 1, name: 'Welcome, Ada' }).waitFor();
      // Only spaces are not a name.
      await expectMissing(main, { submit: 'Create organization', field: 'Organization name', value: ' ' });
      await main.getByLabel('Organization name').fill('Forms');
      await main.getByRole('button', { name: 'Create organization' }).click();
      await page.getByRole('heading', { level: 1, name: 'First application of Forms' }).waitFor();
      await expectMissing(main, { submit: 'Create application', field: 'Application name' });
    });
    await step('a passkey', async () => {
      await open('account');
      await page.getByRole('button', { name: 'Add passkey…' }).click();
      await expectMissing(dialog, { submit: 'Continue', field: 'Name' });
      await dialog.getByRole('button', { name: 'Cancel' }).click();
    });
    await step('a changed password leaves an empty form without errors', async () => {
      await page.getByLabel('Current password', { exact: true }).fill(password);
      await page.getByLabel('New password', { exact: true }).fill('another horse battery');
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.getByText('Password changed; your other sessions have ended').waitFor();
      await expectMissing(main, { submit: 'Change password', field: 'Current password' });
    });
    const signedIn = { email: 'ada@forms.test', password: 'another horse battery' };
    await step('each step of two-factor sign-in', async () => {
      // Reloaded, because the errors of the password are on the same page.
      await open('account');
      await page.getByRole('button', { name: 'Turn on…' }).click();
      await dialog.getByLabel('Password', { exact: true }).fill(signedIn.password);
      await dialog.getByRole('button', { name: 'Continue' }).click();
      await expectMissing(dialog, { submit: 'Turn on', field: 'Code from the app' });
      const [secret = ''] = await dialog.locator('[data-secret]').allInnerTexts();
      await dialog.getByLabel('Code from the app').fill(totp(secret));
      await dialog.getByRole('button', { name: 'Turn on', exact: true }).click();
      for (const [name, submit] of [
        ['New backup codes…', 'Create codes'],
        ['Turn off…', 'Turn off'],
      ] as const) {
        await page.getByRole('button', { name }).click();
        await expectMissing(dialog, { submit, field: 'Password' });
        await dialog.getByRole('button', { name: 'Cancel' }).click();
      }
    });
    await step('sign in', async () => {
      await tab.clearCookies();
      await open('sign-in');
      await expectMissing(main, { submit: 'Sign in', field: 'Email' });
      await main.getByLabel('Email').fill(signedIn.email);
      await main.getByLabel('Password', { exact: true }).fill(signedIn.password);
      await main.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { level: 1, name: 'Two-factor code' }).waitFor();
      await expectMissing(main, { submit: 'Continue', field: 'Two-factor code' });
      await main.getByRole('button', { name: 'Use a backup code' }).click();
      await expectMissing(main, { submit: 'Continue', field: 'Backup code' });
    });
  });

  test('the pages of an invitation and of a reset link show what their forms lack', async (context) => {
    const { id } = suite.organization('Acme');
    const owner = suite.session('owner');
    const { data } = (await owner.get(`${id}/members`)) as unknown as {
      data: readonly { id: string; email: string }[];
    };
    const viewer = data.find(({ email }) => email === people.viewer.email)?.id;
    const invitation = await owner.post(`${id}/invitations`, { role: 'viewer' });
    const reset = await owner.post(`${id}/members/${viewer}/reset_link`);
    const { page } = await suite.openTab(context);
    const main = page.getByRole('main');
    await page.goto(String(invitation.url));
    await expectMissing(main, { submit: 'Create account', field: 'Name' });
    await page.goto(String(reset.url));
    await expectMissing(main, { submit: 'Change password', field: 'New password' });
  });

  test('metadata with a value but no name is not sent without it', async (context) => {
    const page = await suite.open(context, 'developer', 'Acme', 'customers');
    const form = await openForm(page, ['Create customer']);
    await form.getByLabel('Name', { exact: true }).fill('Grace');
    await form.getByRole('button', { name: 'Add line' }).click();
    await form.getByLabel('Metadata, value 1').fill('17');
    await form.getByRole('button', { name: 'Create customer' }).click();
    const name = form.getByLabel('Metadata, name 1');
    await name.and(form.locator('[aria-invalid=true]:focus')).waitFor();
    await form.getByText('Line 1 needs a name.').waitFor();
    await name.fill('order');
    await form.getByRole('button', { name: 'Create customer' }).click();
    await form.waitFor({ state: 'detached' });
    const [customer] = await suite.organization('Acme').api.list('customers');
    expect(customer).toMatchObject({ name: 'Grace', metadata: { order: '17' } });
  });

  test('an invalid field of another form of the page does not take the focus', async (context) => {
    const page = await suite.open(context, 'owner', 'Acme', '../account');
    const main = page.getByRole('main');
    await expectMissing(main, { submit: 'Save name', field: 'Name', value: '' });
    await main.getByRole('button', { name: 'Change password' }).click();
    const focused = main.locator('[aria-invalid=true]:focus');
    await main.getByLabel('Current password', { exact: true }).and(focused).waitFor();
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
