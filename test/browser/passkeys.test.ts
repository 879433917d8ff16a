/** Passkeys, with Chromium's virtual authenticator. */
import { expect, test } from 'vitest';
import { describeInBrowser, expectAccessible, step, untilLoaded } from '../support/browser.ts';
import { consoleApiOf, people, useConsole } from './console.ts';

const { password } = people.owner;

describeInBrowser('passkeys', () => {
  const suite = useConsole({ organizations: ['Passkeys'] });

  test('a person adds a passkey, signs in with it, and removes it', async (context) => {
    const { page, context: tab } = await suite.openTab(context);
    // A passkey belongs to a host name, not to an address.
    const url = suite.url.replace('127.0.0.1', 'localhost');
    const session = async () =>
      (await (await tab.request.get(`${url}/console/api/session`)).json()) as { person: unknown };
    const devtools = await tab.newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
        ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
      },
    });
    await step('add a passkey on the account page', async () => {
      await page.goto(`${url}/console/sign-up`);
      await page.getByLabel('Name').fill('Pia');
      await page.getByLabel('Email').fill('pia@passkeys.test');
      await page.getByLabel('Password', { exact: true }).fill(password);
      await page.getByRole('button', { name: 'Create account' }).click();
      await page.getByRole('heading', { level: 1, name: 'Welcome, Pia' }).waitFor();
      await page.goto(`${url}/console/account`);
      await untilLoaded(page);
      await page.getByRole('button', { name: 'Add passkey…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Add passkey' });
      await dialog.getByLabel('Name').fill('Test laptop');
      await dialog.getByLabel('Password', { exact: true }).fill(password);
      await expectAccessible(page, 'the dialog that adds a passkey', { except: ['region'] });
      await dialog.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('list', { name: 'Passkeys' }).getByText('Test laptop').waitFor();
    });
    await step('sign out, and in with the passkey alone', async () => {
      await tab.clearCookies();
      expect((await session()).person).toBe(null);
      await page.goto(`${url}/console/sign-in`);
      await page.getByRole('button', { name: 'Use a passkey' }).click();
      await page.getByRole('heading', { level: 1, name: 'Welcome, Pia' }).waitFor();
      expect((await session()).person).toMatchObject({ email: 'pia@passkeys.test' });
    });
    await step('a removed passkey does not sign in', async () => {
      await page.goto(`${url}/console/account`);
      await page.getByRole('button', { name: 'Remove Test laptop' }).click();
      await page.getByText('Passkey removed', { exact: true }).first().waitFor();
      await tab.clearCookies();
      await page.goto(`${url}/console/sign-in`);
      await page.getByRole('button', { name: 'Use a passkey' }).click();
      await page.getByText('The passkey was not accepted.').waitFor();
      expect((await session()).person).toBe(null);
      expect(await consoleApiOf(tab.request).get('session')).toMatchObject({ person: null });
    });
  });
});
