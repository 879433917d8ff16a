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
  readonly complaints: readonly string[];
}

/** A window whose complaints are kept. An answer of 4xx that a page expects is not one. */
export async function openWindow(
  browser: Browser,
  baseURL: string,
  options: { readonly viewport?: { width: number; height: number }; readonly theme?: Theme } = {},
): Promise<Watched> {
  const context = await browser.newContext({
    baseURL,
    viewport: options.viewport ?? desktop,
    colorScheme: options.theme ?? 'light',
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    if (/the server responded with a status of 4\d\d/.test(message.text())) return;
    complaints.push(message.text());
  });
  return { context, page, complaints };
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** Every rule of axe, on the page as it stands. The policy of the page lets no script in but through the debugger. */
export async function expectAccessible(page: Page, what: string): Promise<void> {
  await page.evaluate(axeSource);
  const { violations } = (await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"] })',
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
