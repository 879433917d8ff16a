/** The own session and account: an ended session, security history, backup codes, address, and required two-factor sign-in. */
import type { Page } from 'playwright-core';
import { expect, type TestContext, test } from 'vitest';
import { describeInBrowser, expectAccessible, signIn, step, untilLoaded } from '../support/browser.ts';
import { totp } from '../support/visitor.ts';
import { type ConsoleApi, canSignIn, consoleApiOf, people, useConsole } from './console.ts';

const { password } = people.owner;

describeInBrowser('sessions', () => {
  const suite = useConsole({ organizations: ['Sessions'] });

  /** A tab of a new person, who owns an organization. */
  async function openAs(context: TestContext, name: string) {
    const { page, context: browserContext } = await suite.openTab(context);
    const api = consoleApiOf(browserContext.request);
    const person = { email: `${name.toLowerCase()}@sessions.test`, password };
    await api.post('session/sign_up', { name, ...person });
    const { id: orgId } = await api.post('session/organizations', { name: `${name} Inc` });
    return { page, api, person, orgId };
  }

  /** Ends all sessions of a person, as another browser can. */
  async function endSessions(person: { email: string; password: string }): Promise<void> {
    const other = await suite.browser.newContext({ baseURL: suite.url });
    const api = consoleApiOf(other.request);
    await api.post('session/sign_in', person);
    await api.post('session/devices/revoke_others');
    await other.close();
  }

  test('when the session ends, the person signs in over the page and the typed text is still there', async (context) => {
    const { page, api, person, orgId } = await openAs(context, 'Grace');
    await page.goto(`/console/${orgId}/members`);
    await untilLoaded(page);
    const invite = page.getByRole('dialog', { name: 'Invite a member' });
    const again = page.getByRole('dialog', { name: 'Sign in' });
    await step('submit a form after the session has ended', async () => {
      await page.getByRole('button', { name: 'Invite' }).click();
      await invite.getByLabel('Email').fill('guest@sessions.test');
      await endSessions(person);
      await invite.getByRole('button', { name: 'Create and copy link' }).click();
      await again.getByText('Your session ended. Sign in to continue.').waitFor();
      await expectAccessible(page, 'the dialog that signs in again', { except: ['region'] });
    });
    await step('sign in, and submit the same form', async () => {
      await again.getByLabel('Password', { exact: true }).fill(person.password);
      await again.getByRole('button', { name: 'Sign in' }).click();
      await again.waitFor({ state: 'detached' });
      expect(await invite.getByLabel('Email').inputValue()).toBe('guest@sessions.test');
      await invite.getByRole('button', { name: 'Create and copy link' }).click();
      await page.getByRole('dialog', { name: 'Invitation created' }).waitFor();
      const { data } = await api.get(`${orgId}/invitations`);
      expect(data).toContainEqual(expect.objectContaining({ email: 'guest@sessions.test' }));
    });
  });

  test('a page that is opened with an ended session says so, and opens after the sign-in', async (context) => {
    const { page, person, orgId } = await openAs(context, 'Rosa');
    await endSessions(person);
    await page.goto(`/console/${orgId}/members`);
    await page.getByText('Your session ended. Sign in to continue.').waitFor();
    await signIn(page, person);
    await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/${orgId}/members`);
  });

  /** Turns on two-factor sign-in through the API. */
  async function turnOn(api: ConsoleApi): Promise<readonly string[]> {
    const pending = await api.post('session/two_factor/enable', { password });
    await api.post('session/two_factor/confirm', { code: totp(String(pending.secret)) });
    return pending.backupCodes as readonly string[];
  }

  test('the account page shows sign-ins and changes, replaces backup codes and changes the address', async (context) => {
    const { page, api, person } = await openAs(context, 'Ida');
    const [oldCode = ''] = await turnOn(api);
    expect(await canSignIn(suite, { ...person, password: 'a wrong password' })).toBe(false);
    await page.goto('/console/account');
    await untilLoaded(page);
    const events = page.getByRole('list', { name: 'Security history' }).getByRole('listitem');
    await step('the history has the failed sign-in, newest first', async () => {
      const shown = await events.allInnerTexts();
      expect(shown).toHaveLength(3);
      expect(shown[0]).toContain('Sign-in failed: wrong password');
      expect(shown[0]).toContain('127.0.0.1');
      expect(shown[1]).toContain('Two-factor sign-in turned on');
      expect(shown[2]).toContain('Account created');
      await expectAccessible(page, 'the account page');
    });
    const newCode = await step('new backup codes replace the old ones', async () => {
      await page.getByRole('button', { name: 'New backup codes…' }).click();
      const dialog = page.getByRole('dialog', { name: 'New backup codes' });
      await dialog.getByLabel('Password', { exact: true }).fill(password);
      await dialog.getByRole('button', { name: 'Create codes' }).click();
      await dialog.getByText('Each code works once.').waitFor();
      const [code = ''] = await dialog.locator('[data-secret]').allInnerTexts();
      await dialog.getByRole('button', { name: 'Done' }).click();
      await events.filter({ hasText: 'Backup codes replaced' }).waitFor();
      return code;
    });
    const changed = { ...person, email: 'ida.new@sessions.test' };
    await step('the new address signs in, with a new code', async () => {
      await page.getByRole('button', { name: 'Change email…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Change email' });
      await dialog.getByLabel('New email').fill(changed.email);
      await dialog.getByLabel('Password', { exact: true }).fill('a wrong password');
      await dialog.getByRole('button', { name: 'Change email' }).click();
      await dialog.getByText('The current password is wrong.').waitFor();
      await dialog.getByLabel('Password', { exact: true }).fill(password);
      await dialog.getByRole('button', { name: 'Change email' }).click();
      await page.getByText('Email changed; your other sessions have ended').waitFor();
      const other = consoleApiOf((await suite.openTab(context)).context.request);
      expect(await other.status('session/sign_in', person)).toBe(401);
      expect(await other.post('session/sign_in', changed)).toMatchObject({ status: 'two_factor_required' });
      expect(await other.status('session/two_factor', { backupCode: oldCode })).toBe(401);
      expect(await other.status('session/two_factor', { backupCode: newCode })).toBe(200);
    });
  });

  test('an owner requires two-factor sign-in, and a member without it sees why there is no access', async (context) => {
    const owner = await openAs(context, 'Olivia');
    const member = await openAs(context, 'Mona');
    const { orgId } = owner;
    const { url } = await owner.api.post(`${orgId}/invitations`, { role: 'viewer' });
    const token = String(url).split('/').at(-1);
    await member.api.post(`session/invitations/${token}/accept`);
    const open = async (page: Page, path: string) => {
      await page.goto(`/console/${path}`);
      await untilLoaded(page);
    };
    const option = owner.page.getByRole('switch', { name: 'Require two-factor sign-in' });
    await step('an owner without it cannot require it', async () => {
      await open(owner.page, `${orgId}/organization`);
      expect(await option.isDisabled()).toBe(true);
      await turnOn(owner.api);
    });
    await open(member.page, `${orgId}/members`);
    await step('the owner requires it', async () => {
      await open(owner.page, `${orgId}/organization`);
      await option.click();
      await owner.page.getByText('Two-factor sign-in is required').waitFor();
      expect(await member.api.status(`${orgId}/members`)).toBe(403);
    });
    await step('the open page of the member explains it with the next click', async () => {
      const navigation = member.page.getByRole('navigation', { name: 'Main' });
      await navigation.getByRole('link', { name: 'Audit', exact: true }).click();
      await member.page.getByRole('heading', { name: 'Two-factor sign-in required' }).waitFor();
      await expectAccessible(member.page, 'the explanation');
      await member.page.getByRole('link', { name: 'Set up two-factor sign-in' }).click();
      await member.page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
    });
    await step('after turning it on, the member has access', async () => {
      await turnOn(member.api);
      await open(member.page, `${orgId}/members`);
      await member.page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
      await member.page.getByRole('row', { name: /Olivia/ }).waitFor();
    });
  });
});
