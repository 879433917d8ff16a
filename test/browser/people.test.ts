/** Accounts and members: sign-up, sign-in, second factor, sessions, passwords, invitations, roles. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import {
  clipboardOf,
  describeInBrowser,
  expectAccessible,
  pageContent,
  signIn,
  step,
  untilLoaded,
} from '../support/browser.ts';
import { totp } from '../support/visitor.ts';
import type { Body } from './api.ts';
import { canSignIn, consoleApiOf, goTo, people, useConsole } from './console.ts';

const { password } = people.owner;
const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name }).waitFor();

describeInBrowser('people', () => {
  const suite = useConsole({ organizations: ['Accounts', 'Acme'] });

  async function signUp(page: Page, name: string, email: string, chosen: string = password): Promise<void> {
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(chosen);
    await page.getByRole('button', { name: 'Create account' }).click();
  }

  test('a person signs up, is rejected with a wrong password, signs in and ends other sessions', async (context) => {
    const ada = { email: 'ada@people.test', password };
    const { page, context: first } = await suite.openTab(context);
    const session = consoleApiOf(first.request);

    await step('sign up', async () => {
      await page.goto('/console/sign-up');
      await signUp(page, 'Ada', ada.email, 'password1234');
      await page.getByText('This password is too common.').waitFor();
      expect(await session.get('session')).toMatchObject({ person: null });
      await signUp(page, 'Ada', ada.email);
      await heading(page, 'Welcome, Ada');
      expect(await session.get('session')).toMatchObject({ person: { email: ada.email } });
    });
    const { page: other, context: second } = await suite.openTab(context);
    await step('a wrong password is rejected', async () => {
      await other.goto('/console/sign-in');
      await signIn(other, { ...ada, password: 'a wrong password' });
      await other.getByRole('alert').waitFor();
      expect(await other.getByRole('alert').innerText()).toBe('Wrong email or password.');
      expect(await consoleApiOf(second.request).get('session')).toMatchObject({ person: null });
    });
    await step('the correct password signs in', async () => {
      await signIn(other, ada);
      await heading(other, 'Welcome, Ada');
      expect(await consoleApiOf(second.request).get('session')).toMatchObject({
        person: { email: ada.email },
      });
    });
    await step('the first session ends the second one', async () => {
      await page.goto('/console/account');
      await page.getByRole('button', { name: 'Sign out everywhere else' }).click();
      await page.getByRole('button', { name: 'Sign out everywhere else' }).waitFor({ state: 'detached' });
      expect(await consoleApiOf(second.request).get('session')).toMatchObject({ person: null });
      expect(await session.get('session')).toMatchObject({ person: { email: ada.email } });
    });
    await step('change the password: only the new one signs in', async () => {
      const changed = { ...ada, password: 'another horse battery' };
      await page.getByLabel('Current password', { exact: true }).fill(password);
      await page.getByLabel('New password', { exact: true }).fill('qwertyuiop12');
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.getByText('This password is too common.').waitFor();
      await page.getByLabel('New password', { exact: true }).fill(changed.password);
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.getByText('Password changed; your other sessions have ended').waitFor();
      expect(await canSignIn(suite, ada)).toBe(false);
      expect(await canSignIn(suite, changed)).toBe(true);
    });
  });

  test('a second factor is turned on, required for signing in, and turned off', async (context) => {
    const grace = { email: 'grace@people.test', password };
    const { page, context: first } = await suite.openTab(context);
    const session = consoleApiOf(first.request);
    await session.post('session/sign_up', { name: 'Grace', ...grace });

    const { secret, backupCode } = await step('turn it on with a code from the secret', async () => {
      await page.goto('/console/account');
      await untilLoaded(page);
      await page.getByRole('button', { name: 'Turn on…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Turn on two-factor sign-in' });
      await dialog.getByLabel('Password', { exact: true }).fill(password);
      await dialog.getByRole('button', { name: 'Continue' }).click();
      await dialog.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
      await expectAccessible(page, 'the dialog that turns on the second factor', { except: ['region'] });
      const [shown = '', ...codes] = await dialog.locator('[data-secret]').allInnerTexts();
      await dialog.getByLabel('Code from the app').fill('000000');
      await dialog.getByRole('button', { name: 'Turn on', exact: true }).click();
      await dialog.getByText('This code is wrong or too old.').waitFor();
      await dialog.getByLabel('Code from the app').fill(totp(shown));
      await dialog.getByRole('button', { name: 'Turn on', exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await session.get('session')).toMatchObject({ person: { twoFactor: true } });
      expect(await pageContent(page)).not.toContain(shown);
      return { secret: shown, backupCode: codes[0] ?? '' };
    });
    const { page: other, context: second } = await suite.openTab(context);
    const person = async () => (await consoleApiOf(second.request).get('session')).person;
    await step('the password alone does not sign in', async () => {
      await other.goto('/console/sign-in');
      await signIn(other, grace);
      await heading(other, 'Two-factor code');
      expect(await person()).toBe(null);
    });
    await step('a backup code signs in once', async () => {
      await other.getByRole('button', { name: 'Use a backup code' }).click();
      await other.getByLabel('Backup code').fill(backupCode);
      await other.getByRole('button', { name: 'Continue' }).click();
      await heading(other, 'Welcome, Grace');
      expect(await person()).toMatchObject({ email: grace.email });
      await consoleApiOf(second.request).post('session/sign_out');
      await other.goto('/console/sign-in');
      await signIn(other, grace);
      await other.getByRole('button', { name: 'Use a backup code' }).click();
      await other.getByLabel('Backup code').fill(backupCode);
      await other.getByRole('button', { name: 'Continue' }).click();
      await other.getByRole('alert').waitFor();
      expect(await person()).toBe(null);
    });
    await step('a code from the app signs in', async () => {
      await other.getByRole('button', { name: 'Use the authenticator app' }).click();
      // A code works once, and the present one may have turned the second factor on: the next one is accepted already.
      await other.getByLabel('Two-factor code', { exact: true }).fill(totp(secret, Date.now() + 30_000));
      await other.getByRole('button', { name: 'Continue' }).click();
      await heading(other, 'Welcome, Grace');
      expect(await person()).toMatchObject({ email: grace.email });
    });
    await step('turn it off', async () => {
      await page.getByRole('button', { name: 'Turn off…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Turn off two-factor sign-in' });
      await dialog.getByLabel('Password', { exact: true }).fill(password);
      await dialog.getByRole('button', { name: 'Turn off', exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await session.get('session')).toMatchObject({ person: { twoFactor: false } });
    });
  });

  test('an owner invites a person, changes the role, resets the password and removes the person', async (context) => {
    const { id: orgId, applicationId, api } = suite.organization('Acme');
    const payment = await api.post('payments', { amount: 1250, currency: 'EUR', reference: 'order-1001' });
    const members = async () =>
      (await suite.session('owner').get(`${orgId}/members`)).data as readonly (Body & { email: string })[];
    const nora = { email: 'nora@acme.test', password };
    const owner = await suite.open(context, 'owner', 'Acme', 'members');
    const { page: member, context: memberContext } = await suite.openTab(context);
    const memberApi = consoleApiOf(memberContext.request);
    const write = () =>
      memberApi.status(`${orgId}/${applicationId}/developer_api_payments/${payment.id}/advance`, {
        to: 'authorized',
      });

    const invite = async (email: string): Promise<string> => {
      await owner.getByRole('button', { name: 'Invite' }).click();
      const dialog = owner.getByRole('dialog', { name: 'Invite a member' });
      if (email !== '') await dialog.getByLabel('Email').fill(email);
      await dialog.getByRole('radio', { name: 'Viewer' }).check();
      await dialog.getByRole('button', { name: 'Create and copy link' }).click();
      const created = owner.getByRole('dialog', { name: 'Invitation created' });
      await created.getByRole('button', { name: /Copy invitation link|Copied/ }).click();
      const link = await clipboardOf(owner);
      expect(link.startsWith(`${suite.url}/console/invitation/`)).toBe(true);
      await created.getByRole('button', { name: 'Done' }).click();
      return link;
    };
    const invitations = owner.getByRole('table', { name: 'Open invitations' });

    const link = await step('create an invitation for a viewer', async () => {
      const created = await invite('');
      await invitations.getByRole('row', { name: /Viewer/ }).waitFor();
      return created;
    });
    await step('follow the link, join as a viewer and read', async () => {
      const failed: string[] = [];
      member.on('response', (response) => {
        if (response.status() >= 400) failed.push(`${response.status()} ${response.url()}`);
      });
      await member.goto(link);
      await heading(member, 'Join Acme');
      await signUp(member, 'Nora', nora.email);
      await heading(member, 'Overview');
      await untilLoaded(member);
      expect(failed, 'the used link is not requested again').toEqual([]);
      expect(await members()).toContainEqual(expect.objectContaining({ email: nora.email, role: 'viewer' }));
      await goTo(member, 'Payments');
      await member
        .getByRole('row', { name: /order-1001/ })
        .getByRole('link')
        .click();
      await heading(member, /12\.50/);
      await member.getByText('Your role can view this record but not change it.').waitFor();
    });
    await step('the link works only once', async () => {
      const { page: third } = await suite.openTab(context);
      await third.goto(link);
      await third.getByText(/This invitation is unknown, used or expired/).waitFor();
    });
    await step('a revoked invitation does not work', async () => {
      const revoked = await invite('later@acme.test');
      await invitations.getByRole('row', { name: /later@acme\.test/ }).waitFor();
      await owner.getByRole('button', { name: 'Revoke the invitation for later@acme.test' }).click();
      await owner.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
      // An open dialog hides the table from assistive technology, and so from getByRole.
      await owner.getByRole('alertdialog').waitFor({ state: 'detached' });
      await invitations.getByRole('row', { name: /later@acme\.test/ }).waitFor({ state: 'detached' });
      const { page: third } = await suite.openTab(context);
      await third.goto(revoked);
      await third.getByText(/This invitation is unknown, used or expired/).waitFor();
    });
    await step('a viewer cannot write: not on the page, and not past it', async () => {
      await untilLoaded(member);
      const writes = member.getByRole('button', { name: /Capture|^Next|Actions|Go to state|Cancel/ });
      expect(await writes.count()).toBe(0);
      expect(await write()).toBe(403);
    });
    await step('the audit trail shows the rejected write', async () => {
      await owner.reload();
      await owner.getByRole('row', { name: /Nora .*Viewer/ }).waitFor();
      await goTo(owner, 'Audit');
      await owner.getByRole('row', { name: /role_missing .*Nora Refused/ }).waitFor();
    });
    const openMenu = async (item: string) => {
      await owner.getByRole('button', { name: 'Actions for Nora' }).click();
      await owner.getByRole('menuitem', { name: item }).click();
    };
    await step('as a developer, the member can write', async () => {
      await goTo(owner, 'Members');
      await openMenu('Change role…');
      const dialog = owner.getByRole('dialog', { name: 'Change the role of Nora' });
      await dialog.getByRole('radio', { name: 'Developer' }).check();
      await dialog.getByRole('button', { name: 'Change role' }).click();
      await owner.getByRole('row', { name: /Nora .*Developer/ }).waitFor();
      expect(await members()).toContainEqual(
        expect.objectContaining({ email: nora.email, role: 'developer' }),
      );
      await member.reload();
      await member.getByRole('button', { name: /^Next/ }).waitFor();
      expect(await write()).toBe(200);
      expect(await api.get(`payments/${payment.id}`)).toMatchObject({ status: 'authorized' });
    });
    const renewed = { ...nora, password: 'a brand new password' };
    await step('a reset link changes the password and ends the sessions', async () => {
      await openMenu('Reset password…');
      await owner.getByRole('alertdialog').getByRole('button', { name: 'Create link' }).click();
      const created = owner.getByRole('dialog', { name: 'Reset link created' });
      const resetLink = await created.locator('[data-secret]').innerText();
      await created.getByRole('button', { name: 'Done' }).click();
      const { page: third } = await suite.openTab(context);
      await third.goto(resetLink);
      await third.getByLabel('New password', { exact: true }).fill(renewed.password);
      await third.getByRole('button', { name: 'Change password' }).click();
      await heading(third, 'Password changed');
      expect(await canSignIn(suite, nora)).toBe(false);
      expect(await memberApi.get('session')).toMatchObject({ person: null });
      await member.goto('/console/sign-in');
      await signIn(member, renewed);
      await heading(member, 'Overview');
    });
    await step('remove the member, whose open page loses the organization with the next click', async () => {
      await openMenu('Remove…');
      const question = owner.getByRole('alertdialog', { name: 'Remove Nora?' });
      await question.getByRole('button', { name: 'Remove member' }).click();
      await question.waitFor({ state: 'detached' });
      await owner.getByRole('row', { name: /Nora/ }).waitFor({ state: 'detached' });
      expect((await members()).map(({ email }) => email)).not.toContain(nora.email);
      await member
        .getByRole('navigation', { name: 'Main' })
        .getByRole('link', { name: 'Customers', exact: true })
        .click();
      await member.getByText('This page does not exist').waitFor();
      expect(await member.getByRole('row').count()).toBe(0);
      expect(await memberApi.status(`${orgId}/members`)).toBe(404);
    });
    await step('a reload shows nothing either', async () => {
      await member.reload();
      await member.getByText('This page does not exist').waitFor();
      await member.goto('/console/');
      await heading(member, 'Welcome, Nora');
    });
  });
});
