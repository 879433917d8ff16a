/**
 * Kit for the tests in `test/browser`, which drive a real Chromium against the real server process.
 *
 * For test authors:
 *
 * - **One server and one browser for a file.** `useBrowser()` starts both before the first test and stops them after the
 *   last one. Starting them takes several seconds, so tests share them and get their own organization or person instead.
 * - **One tab for a test.** `suite.openTab(test, options)` opens a fresh browser context and closes it when the test
 *   ends. `test` is the context that Vitest passes to the test function. Pass `storageState` to start signed in: signing
 *   in through the form costs a second, and the server throttles it.
 * - **One test for a flow.** A flow that needs the result of its previous step is one test with several `step()` calls, so
 *   that a failure produces one error, which names the step, instead of one error for every later step.
 * - **Check the effect.** A flow ends with a check through the API, the webhook receiver or the database. A toast only
 *   shows that the page believes in success.
 * - **Wait for signals.** `untilLoaded(page)` and `locator.waitFor()` wait for what the user sees. Do not wait for time
 *   or for `networkidle`. Every wait has a limit (`waitMs`), which only a page that hangs reaches.
 * - **No complaints.** A test fails if its tab logged an error or a warning, a script threw, or the content security
 *   policy blocked something. Responses with a 4xx status are expected and do not count.
 * - **Failures explain themselves.** When a test fails, the screenshot, the HTML and the console messages of its tabs and
 *   the end of the server log are written to a folder below the operating system's temporary folder. The path is printed.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, type TestContext, vi } from 'vitest';
import type { ServerProcess } from './processes.ts';

/** On a machine without a browser these tests are skipped, and the report lists them. */
export const describeInBrowser = describe.skipIf(inject('chromium') === '');

/** For pages that hang: a step that usually takes 0.2 s can take 15 s on a busy machine. */
export const waitMs = 240_000;

const serverLogCharacters = 50_000;

/**
 * Pages expect 4xx responses. A server on a machine that is too busy answers reads with 503, and the console retries them: if
 * that does not help, the page shows an error and the test fails at its next step.
 */
const expectedStatus = /the server responded with a status of (4\d\d|503)/;

/** One keeps the browser busy while the other waits for the server. More only compete for the processor. */
const lentTabsMax = 2;

type Theme = 'light' | 'dark';

export const desktop = { width: 1280, height: 800 } as const;
export const phone = { width: 390, height: 844 } as const;

/** Cookies and local storage of a browser context. */
export type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>;

export interface TabOptions {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly theme?: Theme;
  /** The time zone of the browser; UTC by default. */
  readonly timezoneId?: string;
  /** The cookies and storage of a signed-in person. */
  readonly storageState?: StorageState;
  readonly javaScriptEnabled?: boolean;
  /** Complaints that are expected, such as those of third-party code. */
  readonly ignoreComplaints?: RegExp;
}

export interface Tab {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors and warnings of the page: uncaught errors, console messages, content security policy violations. */
  readonly complaints: string[];
  /** All console messages, requests that failed and addresses that were visited. */
  readonly log: string[];
}

export interface TemporaryFolder {
  /** A data folder for the server. */
  readonly data: string;
  /** Writes a seed file and returns its path. */
  seed(content: unknown): string;
}

export interface BrowserSuite {
  readonly browser: Browser;
  readonly server: ServerProcess;
  /** The server's address, without a slash at the end. */
  readonly url: string;
  /** Opens a tab that is checked for complaints and closed when the test ends. */
  openTab(test: TestContext, options?: TabOptions): Promise<Tab>;
  /**
   * Borrows a tab that other tests have used, or opens it with these options, which must be the same for the same name. For
   * concurrent tests that only read: at most two tabs are lent at a time. A tab whose test failed is not lent again.
   */
  borrowTab(test: TestContext, name: string, options?: TabOptions): Promise<Tab>;
}

export interface SuiteOptions {
  readonly start: (folder: TemporaryFolder) => Promise<ServerProcess>;
  /** Runs once after the server and the browser have started. */
  readonly prepare?: (suite: BrowserSuite) => Promise<void>;
}

/** Starts a server and a browser for the enclosing `describe` block. */
export function useBrowser({ start, prepare }: SuiteOptions): BrowserSuite {
  let server: ServerProcess | undefined;
  let browser: Browser | undefined;
  let folder = '';
  const idle: { readonly name: string; readonly tab: Tab }[] = [];
  const waiting: (() => void)[] = [];
  let free = lentTabsMax;
  const suite: BrowserSuite = {
    get browser() {
      return browser ?? notStarted();
    },
    get server() {
      return server ?? notStarted();
    },
    get url() {
      return this.server.url;
    },
    openTab: async (test, options) => {
      const tab = await openTab(suite.browser, suite.url, options);
      test.onTestFinished(() => tab.context.close());
      expectNoComplaints(test, tab, suite.server);
      return tab;
    },
    borrowTab: async (test, name, options) => {
      if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
      else free -= 1;
      let borrowed: Tab | undefined;
      test.onTestFinished(async () => {
        try {
          if (test.task.result?.state === 'fail') await borrowed?.context.close();
          else if (borrowed !== undefined) idle.push({ name, tab: borrowed });
        } finally {
          const next = waiting.shift();
          if (next === undefined) free += 1;
          else next();
        }
      });
      const index = idle.findIndex((one) => one.name === name);
      const known = index === -1 ? undefined : idle.splice(index, 1)[0]?.tab;
      const tab = known ?? (await openTab(suite.browser, suite.url, options));
      borrowed = tab;
      tab.complaints.length = 0;
      tab.log.length = 0;
      expectNoComplaints(test, tab, suite.server);
      return tab;
    },
  };
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'sandbank-browser-'));
    const temporaryFolder: TemporaryFolder = {
      data: path.join(folder, 'data'),
      seed: (content) => {
        const file = path.join(folder, 'seed.json');
        writeFileSync(file, JSON.stringify(content));
        return file;
      },
    };
    // Assigned one by one, so that a browser is closed even if the server does not start.
    await Promise.all([
      start(temporaryFolder).then((started) => {
        server = started;
      }),
      openBrowser().then((opened) => {
        browser = opened;
      }),
    ]);
    await prepare?.(suite);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    if (folder !== '') rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return suite;
}

function notStarted(): never {
  throw new Error('The server and the browser start in beforeAll: use the suite inside of a test.');
}

/** Names the step in the error message. The steps of a test run one after the other. */
export async function step<Result>(name: string, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Error) error.message = `Step "${name}": ${error.message}`;
    throw error;
  }
}

/** A host that leads browsers to the server of the test. Unlike localhost, its pages are secure only over https. */
export const sharedHost = 'sandbank.test';

function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: inject('chromium'),
    // Playwright hides scrollbars, but on Windows and Linux people see them: they take 15 pixels.
    ignoreDefaultArgs: ['--hide-scrollbars'],
    args: [
      '--no-sandbox',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-dev-shm-usage',
      `--host-resolver-rules=MAP ${sharedHost} 127.0.0.1`,
    ],
  });
}

async function openTab(browser: Browser, baseURL: string, options: TabOptions = {}): Promise<Tab> {
  const context = await browser.newContext({
    baseURL,
    ...(options.storageState === undefined ? {} : { storageState: options.storageState }),
    viewport: options.viewport ?? desktop,
    colorScheme: options.theme ?? 'light',
    javaScriptEnabled: options.javaScriptEnabled ?? true,
    timezoneId: options.timezoneId ?? 'UTC',
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(waitMs);
  const page = await context.newPage();
  const complaints: string[] = [];
  const log: string[] = [];
  page.on('pageerror', (error) => {
    complaints.push(String(error));
    log.push(`pageerror: ${error.stack ?? error}`);
  });
  page.on('console', (message) => {
    log.push(`console.${message.type()}: ${message.text()}`);
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    if (expectedStatus.test(message.text())) return;
    if (options.ignoreComplaints?.test(message.text())) return;
    complaints.push(message.text());
  });
  page.on('requestfailed', (request) =>
    log.push(`request failed: ${request.method()} ${request.url()} ${request.failure()?.errorText}`),
  );
  page.on('framenavigated', (frame) => {
    if (frame === page.mainFrame()) log.push(`navigated: ${frame.url()}`);
  });
  return { context, page, complaints, log };
}

/**
 * Saves the state of the tab if the test has failed, and fails the test if the tab has complaints. Call it after the hook that
 * closes the tab is registered: Vitest runs these hooks in reverse order.
 */
function expectNoComplaints(test: TestContext, tab: Tab, server: ServerProcess): void {
  test.onTestFinished(async () => {
    const hasFailed = test.task.result?.state === 'fail';
    if (hasFailed || tab.complaints.length > 0) await saveFailure(test, tab, server);
    if (!hasFailed) expect(tab.complaints, 'complaints of the browser').toEqual([]);
  });
}

async function saveFailure(test: TestContext, tab: Tab, server: ServerProcess): Promise<void> {
  const root = path.join(tmpdir(), 'sandbank-browser-failures');
  mkdirSync(root, { recursive: true });
  const name = test.task.name.replaceAll(/[^\w-]+/g, '-').slice(0, 60);
  const folder = mkdtempSync(path.join(root, `${name}-`));
  const save = (file: string, content: string | Buffer) => writeFileSync(path.join(folder, file), content);
  save('console.txt', [...tab.log, '', 'Complaints:', ...tab.complaints].join('\n'));
  save('server.log', server.logs().slice(-serverLogCharacters));
  try {
    const error = test.task.result?.errors?.[0];
    if (error !== undefined) error.message += `\n${await stateOf(tab.page)}`;
    save('page.html', `<!-- ${tab.page.url()} -->\n${await tab.page.content()}`);
    save('screenshot.png', await tab.page.screenshot({ fullPage: true }));
  } catch (error) {
    // The page may have crashed, or the test has closed it: the messages are worth having without it.
    save('page-unavailable.txt', String(error));
  }
  process.stderr.write(`"${test.task.name}" failed. Screenshot, messages and server log: ${folder}\n`);
}

/** What the page shows at the end of a failed test, for the error message: often all that is left of a run. */
function stateOf(page: Page): Promise<string> {
  return page.evaluate(`(() => {
    const texts = (selector, textOf) => [...document.querySelectorAll(selector)].map(textOf).filter(Boolean);
    const nameOf = (one) => one.getAttribute('aria-label') ?? one.labels?.[0]?.innerText ?? one.innerText ?? '';
    const line = (one) => one.tagName.toLowerCase() + ' ' + nameOf(one).slice(0, 80);
    return [
      'The page at the end: ' + location.pathname,
      'focus: ' + (document.querySelector(':focus') === null ? 'nothing' : line(document.activeElement)),
      ...texts('[role=dialog] h2, [role=alertdialog] h2', (one) => 'dialog: ' + one.innerText),
      ...texts('[aria-invalid=true]', (one) => 'invalid: ' + line(one)),
      ...texts('[role=alert], [role=status], [aria-live]', (one) => one.innerText && 'says: ' + one.innerText.slice(0, 200)),
    ].slice(0, 12).join('\\n  ');
  })()`);
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** Fills in the sign-in form of the current page. */
export async function signIn(page: Page, { email, password }: Credentials): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** The HTML of the page, its storage and its history state: everywhere a secret could leak to. */
export async function pageContent(page: Page): Promise<string> {
  const stored = await page.evaluate('JSON.stringify([localStorage, sessionStorage, history.state])');
  return `${await page.content()}${stored}`;
}

export function clipboardOf(page: Page): Promise<string> {
  return page.evaluate('navigator.clipboard.readText()');
}

/** Waits until the page shows its heading and no placeholder for data that is still being loaded. */
export async function untilLoaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.locator('.animate-pulse, [aria-busy=true]').first().waitFor({ state: 'detached' });
}

/** Presses Escape in a dialog or menu once it has the focus: it is visible before it listens for keys. */
export async function pressEscape(layer: Locator): Promise<void> {
  const page = layer.page();
  await layer.waitFor();
  const isInside = () => layer.evaluate((element) => element.contains(element.ownerDocument.activeElement));
  await vi.waitUntil(isInside, { interval: 20 });
  await page.keyboard.press('Escape');
}

/** Waits until the browser has painted the latest change and all animations have finished. Names what does not happen. */
export async function untilStill(page: Page): Promise<void> {
  const missing = await page.evaluate(
    `(() => {
      let isPainted = false;
      const still = new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted))).then(() => {
        isPainted = true;
        return Promise.allSettled(document.getAnimations().map((one) => one.finished)).then(() => []);
      });
      const late = new Promise((resolve) => setTimeout(() => resolve([
        ...(isPainted ? [] : ['two frames, while the page is ' + document.visibilityState]),
        ...document.getAnimations().map(({ animationName, playState, effect }) =>
          'the end of ' + (animationName ?? 'a transition') + ', ' + playState + ', of ' +
          effect?.target?.outerHTML.slice(0, 200)),
      ]), ${waitMs}));
      return Promise.race([still, late]);
    })()`,
  );
  expect(missing, `awaited on ${page.url()}`).toEqual([]);
}

/** Expects that the page does not scroll sideways in its present viewport. */
export async function expectNoOverflow(page: Page, what: string): Promise<void> {
  const viewport = page.viewportSize();
  const width = await page.evaluate('document.documentElement.scrollWidth');
  expect(width, `width of ${what}`).toBeLessThanOrEqual(viewport?.width ?? 0);
}

/** Expects that texts of the server are not shown as raw Markdown. Code may contain backticks. */
export async function expectNoBackticks(page: Page, what: string): Promise<void> {
  const found = await page.evaluate(`(() => {
    const backtick = String.fromCharCode(96);
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
      const { data, parentElement } = walker.currentNode;
      if (data.includes(backtick) && !parentElement.closest('pre, code, script, style, textarea')) found.push(data);
    }
    return found;
  })()`);
  expect(found, `texts with backticks on ${what}`).toEqual([]);
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

export interface AxeOptions {
  /** Rules that do not apply, by id. All other rules run. */
  readonly except?: readonly string[];
}

/**
 * Expects that axe finds no violation on the page. The content security policy does not allow the page to load axe, so it is
 * injected through the debugger.
 */
export async function expectAccessible(
  page: Page,
  what: string,
  { except = [] }: AxeOptions = {},
): Promise<void> {
  const options = {
    resultTypes: ['violations'],
    // The report shows the HTML of an element. Computing its selector takes a tenth of the run.
    selectors: false,
    rules: Object.fromEntries(except.map((id) => [id, { enabled: false }])),
  };
  // A table fades while it loads other rows, and faded text has too little contrast.
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
  await untilStill(page);
  // Once for each document: parsing it takes as long as loading a page.
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axeSource);
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as AxeResult;
  const found = violations.map(({ id, help, nodes }) => ({
    id,
    help,
    nodes: nodes
      .slice(0, 5)
      .map(({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary ?? ''}`),
  }));
  expect(found, `accessibility of ${what}`).toEqual([]);
}
