import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { operations } from '../../sdk/generated/operations.ts';

/** Every action of the console that has an API operation shows its code: the dialog of the action, or a list of requests. */

const folder = new URL('../', import.meta.url);
const textOf = (file: string) => readFileSync(new URL(file, folder), 'utf8');
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.test.ts'))
  .toSorted();

interface Write {
  readonly file: string;
  /** The path or the expression, for example `app/developer_api_webhooks/${id}/enable`. */
  readonly path: string;
  readonly hasCode: boolean;
}

// `const create = useWrite<Payment>('app/developer_api_payments', ...`
const call =
  /(?:const (?:(?<name>\w+)|\{[^}]*\}) = )?\buse(?:Secret)?Write(?:<(?:[^<>(]|<[^<>]*>)*>)?\(\s*(?<path>'[^']*'|`[^`]*`|[^,)]+)/g;

const lastNames = new Set(operations.map(({ path }) => path.split('/').at(-1)));

/** Whether the API has no such operation. A path that is a variable, or ends with one, may have one. */
function isConsoleOnly(expression: string): boolean {
  if (!/^['`]/.test(expression)) return false;
  if (!/^.app\/(?:developer_api_|\$\{)/.test(expression)) return true;
  const last = expression.slice(1, -1).split('/').at(-1) ?? '';
  return /^\w+$/.test(last) && !lastNames.has(last);
}

function writesIn(file: string): readonly Write[] {
  const text = textOf(file);
  return [...text.matchAll(call)]
    .map(({ groups }) => ({ name: groups?.name, path: groups?.path?.trim() ?? '' }))
    .filter(({ path }) => !isConsoleOnly(path))
    .map(({ name, path }) => ({
      file,
      path: path.replaceAll(/^['`]|['`]$/g, ''),
      hasCode: name !== undefined && text.includes(`code={${name}.request(`),
    }));
}

const writes = files
  .filter((file) => file !== 'client/queries.ts' && file !== 'pages/secret.tsx')
  .flatMap(writesIn);

/** Buttons without a dialog: the end of the path, the file with the code of the request, and a part of that file. */
const shownElsewhere: readonly (readonly [file: string, end: string, where: string, text: string])[] = [
  ['frame/clock.tsx', 'clock/advance', 'frame/clock.tsx', "post('advance'"],
  ['frame/clock.tsx', 'clock/freeze', 'frame/clock.tsx', "post('freeze')"],
  ['frame/clock.tsx', 'clock/resume', 'frame/clock.tsx', "post('resume')"],
  ['frame/commands.ts', 'clock/advance', 'frame/clock.tsx', "post('advance'"],
  ['frame/commands.ts', 'clock/freeze', 'frame/clock.tsx', "post('freeze')"],
  ['frame/commands.ts', 'webhook_inbox', 'pages/webhooks/requests.ts', "'developer_api_webhook_inbox'"],
  ['pages/deliveries/replay-button.tsx', '', 'pages/deliveries/detail.tsx', '/replay`, { webhookId }'],
  ['pages/inbox/behavior.tsx', '', 'pages/inbox/requests.ts', '/update`, body'],
  ['pages/inbox/page.tsx', '', 'pages/webhooks/requests.ts', "'Send test event', 'test'"],
  ['pages/inbox/sample-payment.tsx', '', 'pages/inbox/requests.ts', 'request: createSamplePayment'],
  ['pages/overview/attention.tsx', '/enable', 'pages/webhooks/requests.ts', "'enable'"],
  ['pages/overview/attention.tsx', 'clock/reset', 'frame/clock.tsx', "post('reset')"],
  ['pages/webhooks/disabled-banner.tsx', '', 'pages/webhooks/requests.ts', "'enable'"],
  ['pages/webhooks/examine.tsx', '', 'pages/webhooks/examine.tsx', 'useCodeToggle(examine.request(body)'],
  ['pages/webhooks/open-inbox.tsx', '', 'pages/webhooks/requests.ts', "'developer_api_webhook_inbox'"],
  // The count before a replay is the same request with `dryRun`.
  ['pages/webhooks/replay.tsx', '/replay', 'pages/webhooks/replay.tsx', 'code={run.request('],
];

test('every write to the API has its code in its dialog, or is listed with the place of its code', () => {
  expect(writes.length).toBeGreaterThan(25);
  const missing = writes
    .filter(({ hasCode }) => !hasCode)
    .filter(({ file, path }) => !shownElsewhere.some(([one, end]) => one === file && path.endsWith(end)))
    .map(({ file, path }) => `${file}: ${path}`);
  expect(missing).toEqual([]);
});

test('the list has no outdated lines', () => {
  const outdated = shownElsewhere.filter(
    ([file, end, where, text]) =>
      !writes.some((one) => one.file === file && !one.hasCode && one.path.endsWith(end)) ||
      !textOf(where).includes(text),
  );
  expect(outdated).toEqual([]);
});

test('the reset of the organization, which is another route of the console, shows its operation', () => {
  expect(textOf('pages/organization/reset.tsx')).toContain("code={postRequest('developer_api_reset', {})}");
});

test('no other file sends writes to the API', () => {
  const senders = files.filter((file) => /\bpost(?:<[^(]*>)?\(\s*[`']app\/developer_api_/.test(textOf(file)));
  expect(senders).toEqual([]);
});
