import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { desktop, expectAccessible, phone, type Rules, type Watched } from '../support/browser.ts';
import { isThorough } from '../support/effort.ts';

/** What a theme can break, and the width of a window cannot. They take most of the time. */
const ofColours = ['color-contrast', 'link-in-text-block'];

/** Of pages that are made of the same parts not all are looked at as closely in every run. */
export type Closeness = 'close' | 'light' | 'passing';

/** By turns: each `every`-th closely, and of the others each second. */
export function closenessOf(index: number, every: number): Closeness {
  if (isThorough || index % every === 0) return 'close';
  return index % 2 === 0 ? 'light' : 'passing';
}

/**
 * Looks at the page of a window: in passing, which is its heading, its title, what the browser complains of and whether it fits a phone;
 * in light, where what is the page's own is examined; or closely, with the frame around it, in dark and on a phone as well. It is
 * loaded once, and seen as a person sees it who turns the lights off or the window small: to load and to examine all of it three
 * times took twice as long and found nothing more.
 */
export async function expectWhole(
  { page, complaints }: Watched,
  what: string,
  closeness: Closeness = 'close',
): Promise<void> {
  const look = (name: string, rules?: Rules) => expectAccessible(page, `${what}, ${name}`, rules);
  expect(await page.getByRole('heading', { level: 1 }).count(), `h1 of ${what}`).toBe(1);
  expect(await page.title(), what).toMatch(/^\S.* · Sandbank$/);
  const isClose = closeness === 'close';
  if (closeness !== 'passing')
    await look('light', isClose || (await page.locator('main').count()) !== 1 ? {} : { within: 'main' });
  if (isClose) {
    await page.emulateMedia({ colorScheme: 'dark' });
    await untilStill(page);
    expect(await page.evaluate('document.documentElement.dataset.theme'), what).toBe('dark');
    await look('dark', { only: ofColours });
    await page.emulateMedia({ colorScheme: 'light' });
  }
  await page.setViewportSize(phone);
  await untilStill(page);
  if (isClose) await look('phone', { except: ofColours });
  const width = await page.evaluate('document.documentElement.scrollWidth');
  expect(width, `width of ${what} on a phone`).toBeLessThanOrEqual(phone.width);
  await page.setViewportSize(desktop);
  expect(complaints, `complaints of ${what}`).toEqual([]);
}

/** Until the browser has drawn what changed, and nothing moves any more. */
async function untilStill(page: Page): Promise<void> {
  await page.evaluate(
    'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))' +
      '.then(() => Promise.allSettled(document.getAnimations().map((one) => one.finished)))' +
      '.then(() => undefined)',
  );
}
