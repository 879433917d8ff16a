import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { describe, expect, inject } from 'vitest';

/** Where there is no browser, these are skipped, and the report names them. */
export const describeInBrowser = describe.skipIf(inject('chromium') === '');

export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: inject('chromium'),
    args: [
      '--no-sandbox',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-dev-shm-usage',
    ],
  });
}

export type Theme = 'light' | 'dark';

export const desktop = { width: 1280, height: 800 } as const;
export const phone = { width: 390, height: 844 } as const;

export interface Watched {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the browser complained of: errors of scripts, of the console, and of the content security policy. */
  readonly complaints: string[];
}

/** The cookies and the storage of a window, for another one. */
export type State = Awaited<ReturnType<BrowserContext['storageState']>>;

export interface WindowOptions {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly theme?: Theme;
  /** As somebody who has signed in elsewhere. */
  readonly signedIn?: State;
}

/** A window whose complaints are kept. An answer of 4xx that a page expects is not one. */
export async function openWindow(
  browser: Browser,
  baseURL: string,
  options: WindowOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({
    baseURL,
    ...(options.signedIn === undefined ? {} : { storageState: options.signedIn }),
    viewport: options.viewport ?? desktop,
    colorScheme: options.theme ?? 'light',
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  // For pages that hang only: a step that takes 0.2 s took 15 s on a busy machine.
  page.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    if (/the server responded with a status of 4\d\d/.test(message.text())) return;
    complaints.push(message.text());
  });
  return { context, page, complaints };
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** Where the form of the sign-in page is shown. */
export async function signIn(page: Page, { email, password }: Credentials): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** All that a page could keep for later, and all that it shows. */
export async function everythingOf(page: Page): Promise<string> {
  const kept = await page.evaluate('JSON.stringify([localStorage, sessionStorage, history.state])');
  return `${await page.content()}${kept}`;
}

export function clipboardOf(page: Page): Promise<string> {
  return page.evaluate('navigator.clipboard.readText()');
}

/** Signs in and gives what a window needs to be signed in too: the server counts how often that is tried. */
export async function signedInState(browser: Browser, baseURL: string, who: Credentials): Promise<State> {
  const { context, page } = await openWindow(browser, baseURL);
  await page.goto('/console/sign-in');
  await signIn(page, who);
  await page.getByRole('button', { name: /account of/ }).waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

/** Waits until the page shows what it has to show: a heading, and nothing that is still being loaded. */
export async function untilLoaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.locator('.animate-pulse, [aria-busy=true]').first().waitFor({ state: 'detached' });
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

export interface Rules {
  readonly except?: readonly string[];
  /** All unless told. */
  readonly only?: readonly string[];
  /** Of one part of the page, which is named by a selector. */
  readonly within?: string;
}

/** Every rule of axe, on the page as it stands. The policy of the page lets no script in but through the debugger. */
export async function expectAccessible(
  page: Page,
  what: string,
  { except = [], only, within }: Rules = {},
): Promise<void> {
  const options = {
    resultTypes: ['violations'],
    ...(only ? { runOnly: { type: 'rule', values: only } } : {}),
    rules: Object.fromEntries(except.map((id) => [id, { enabled: false }])),
  };
  // Once for each load of a page: it takes as long as to load most of them.
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axeSource);
  const { violations } = (await page.evaluate(
    `axe.run(${within ? JSON.stringify(within) : 'document'}, ${JSON.stringify(options)})`,
  )) as AxeResult;
  const found = violations.map(({ id, help, nodes }) => ({
    id,
    help,
    nodes: nodes
      .slice(0, 5)
      .map(({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary ?? ''}`),
  }));
  expect(found, what).toEqual([]);
}
