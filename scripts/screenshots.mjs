// `node scripts/screenshots.mjs [folder]`: takes the screenshots of the README from a separate server with realistic data.
// Needs `npm run build` and a Chromium (SANDBANK_CHROMIUM, or the system's).
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { createServer } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';

const folder = path.resolve(process.argv[2] ?? 'docs/images');
const port = 4790;
const url = `http://127.0.0.1:${port}`;
const key = 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ01';
const person = { email: 'ada@acme.test', password: 'correct horse battery', role: 'owner' };
const scopes = ['payments', 'customers', 'transfers', 'webhooks'].flatMap((name) => [
  `${name}:read`,
  `${name}:write`,
]);
const day = 86_400;

const receiver = createServer((request, response) => {
  request.resume().on('end', () => {
    const isDown = request.url === '/down';
    response.writeHead(isDown ? 503 : 200, { 'content-type': 'application/json' });
    response.end(isDown ? '{"error":"maintenance"}' : '{"received":true}');
  });
}).listen(4791, '127.0.0.1');

const seed = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'sandbank-')), 'seed.json');
const webhooks = [
  { url: 'http://127.0.0.1:4791/hook', retryProfile: 'fast' },
  { url: 'http://127.0.0.1:4791/down', retryProfile: 'fast', eventTypes: ['payment.failed'] },
];
const applications = [{ name: 'Storefront', apiKeys: [{ name: 'storefront', key, scopes }], webhooks }];
fs.writeFileSync(
  seed,
  JSON.stringify({ organizations: [{ name: 'Acme Coffee', users: [person], applications }] }),
);

const program = `(await import('./dist/cli/main.js')).main(['start', '--port', '${port}', '--data', 'memory', '--seed', ${JSON.stringify(seed)}])`;
const server = spawn(process.execPath, ['--input-type=module', '--eval', program], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
await new Promise((resolve) =>
  server.stdout.on('data', (text) => String(text).includes('is running') && resolve(undefined)),
);

let count = 0;
/** @param {string} where @param {unknown} body @returns {Promise<any>} */
async function post(where, body) {
  count += 1;
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'idempotency-key': `shot-${count}`,
  };
  const answer = await fetch(`${url}/_api/${where}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return answer.json();
}

/** As root on Debian, the tests install only the headless shell. */
function systemBrowser() {
  const files = ['/usr/bin/chromium', '/usr/bin/chromium-headless-shell'];
  const file = files.find((one) => fs.existsSync(one));
  if (file === undefined)
    throw new Error('No Chromium was found: install one, or name it in SANDBANK_CHROMIUM.');
  return file;
}

try {
  fs.mkdirSync(folder, { recursive: true });
  const shown = await fill();
  const browser = await chromium.launch({
    executablePath: process.env.SANDBANK_CHROMIUM ?? systemBrowser(),
    args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  const desktop = { viewport: { width: 1280, height: 800 } };
  const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 };
  for (const { theme, size, pages } of shots(shown, desktop, phone)) {
    const context = await browser.newContext({
      ...size,
      baseURL: url,
      colorScheme: theme,
      reducedMotion: 'reduce',
    });
    const page = await context.newPage();
    await page.goto('/console/sign-in');
    await page.getByLabel('Email').fill(person.email);
    await page.getByLabel('Password', { exact: true }).fill(person.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(/\/console\/org_/);
    const [org] = /org_\w+/.exec(page.url()) ?? [];
    for (const [name, where] of pages) {
      await page.goto(`/console/${org}${where}`);
      await page.waitForLoadState('networkidle').catch(() => undefined);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.evaluate(() => document.fonts.ready);
      await page.mouse.move(0, 0);
      await page.screenshot({ path: path.join(folder, `${name}.png`) });
    }
    await context.close();
  }
  await browser.close();
} finally {
  server.kill();
  receiver.close();
}

/** Creates a week of shop data with the application clock. */
async function fill() {
  const people = ['Grace Hopper', 'Katherine Johnson', 'Mary Jackson', 'Annie Easley', 'Dorothy Vaughan'];
  const customers = [];
  for (const name of people) {
    const email = `${name.split(' ')[0].toLowerCase()}@example.test`;
    customers.push((await post('developer_api_customers', { name, email })).id);
  }
  const scenarios = [
    'approve',
    'approve',
    'approve',
    'decline:insufficient_funds',
    'require_action',
    'settle_short',
    'approve',
  ];
  const ways = [
    'settled',
    'captured',
    'settled',
    'failed',
    'requires_action',
    'settled',
    'refunded',
    'authorized',
    'charged_back',
  ];
  let last = '';
  for (let i = 0; i < 46; i += 1) {
    const { id } = await post('developer_api_payments', {
      amount: 350 + ((i * 2_741) % 24_000),
      currency: ['EUR', 'EUR', 'USD', 'GBP'][i % 4],
      customerId: customers[i % customers.length],
      reference: `order-${1_040 + i}`,
      description: ['Ethiopia 250 g', 'Subscription, monthly', 'Hand grinder', 'Filter papers'][i % 4],
      captureMethod: i % 5 === 0 ? 'manual' : 'automatic',
      scenario: scenarios[i % scenarios.length],
    });
    await post(`developer_api_payments/${id}/advance`, { to: ways[i % ways.length] });
    last = i % ways.length === 0 ? id : last;
  }
  await post(`developer_api_payments/${last}/refund`, { amount: 150, reason: 'one item was returned' });
  for (const [sourceCurrency, targetCurrency, to] of [
    ['EUR', 'JPY', 'completed'],
    ['USD', 'EUR', 'sent'],
    ['GBP', 'USD', 'quoted'],
  ]) {
    const beneficiary = { name: 'Kaldi Roasters', country: 'ET' };
    const { id } = await post('developer_api_transfers', {
      sourceCurrency,
      targetCurrency,
      sourceAmount: 250_000,
      beneficiary,
    });
    if (to !== 'quoted') await post(`developer_api_transfers/${id}/advance`, { to });
  }
  await post('developer_api_payments', { amount: -5, currency: 'EUR' });
  await post('developer_api_payments', { amount: 500, currency: 'XXX' });
  await post('developer_api_clock/advance', { seconds: 2 * day });
  const held = await post('developer_api_payments', {
    amount: 12_500,
    currency: 'EUR',
    captureMethod: 'manual',
    reference: 'order-1099',
    customerId: customers[0],
    description: 'Espresso machine service',
  });
  await post(`developer_api_payments/${held.id}/advance`, { action: 'authorize' });
  await post(`developer_api_payments/${held.id}/advance`, { action: 'capture', amount: 5_000 });
  return held.id;
}

/** @param {string} payment @param {object} desktop @param {object} phone */
function shots(payment, desktop, phone) {
  return [
    {
      theme: /** @type {const} */ ('light'),
      size: desktop,
      pages: [
        ['payments', '/payments'],
        ['payment', `/payments/${payment}`],
        ['reconciliation', '/reconciliation'],
      ],
    },
    {
      theme: /** @type {const} */ ('dark'),
      size: desktop,
      pages: [['overview-dark', '']],
    },
    {
      theme: /** @type {const} */ ('light'),
      size: phone,
      pages: [
        ['payments-phone', '/payments'],
        ['payment-phone', `/payments/${payment}`],
        ['overview-phone', ''],
      ],
    },
  ];
}
