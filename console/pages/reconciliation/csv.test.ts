import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setGlobalOrigin } from 'undici';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readReport } from './csv.ts';

const pages: { text: string; next?: string; status?: number }[] = [];
const requested: string[] = [];
const server = createServer((request, response) => {
  requested.push(`${request.headers.accept} ${request.url}`);
  const { text = '', next, status = 200 } = pages[requested.length - 1] ?? {};
  response.writeHead(status, next === undefined ? {} : { 'Next-Cursor': next }).end(text);
});

beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  setGlobalOrigin(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
beforeEach(() => {
  pages.length = 0;
  requested.length = 0;
});
afterAll(async () => {
  setGlobalOrigin(undefined);
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

const scope = { orgId: 'org_1', appId: 'app_1' };
const url = '/console/api/org_1/app_1/developer_api_settlements/2026-10-30';

test('a report of several pages is one file with one header line', async () => {
  pages.push({ text: 'id,amount\na,1\nb,2\n', next: 'c 1' }, { text: 'id,amount\nc,3\n' });
  const progress: number[] = [];
  expect(await readReport('2026-10-30', scope, (lines) => progress.push(lines))).toBe(
    'id,amount\na,1\nb,2\nc,3\n',
  );
  expect(progress).toEqual([2, 3]);
  expect(requested).toEqual([`text/csv ${url}`, `text/csv ${url}?cursor=c+1`]);
});

test('a report without lines is its header line', async () => {
  pages.push({ text: 'id,amount\n' });
  const progress: number[] = [];
  expect(await readReport('2026-10-30', scope, (lines) => progress.push(lines))).toBe('id,amount\n');
  expect(progress).toEqual([0]);
});

test('an error response in the middle is thrown, and no partial report is returned', async () => {
  const error = { code: 'internal_error', message: 'The report could not be read.' };
  pages.push({ text: 'id\na\n', next: 'c1' }, { text: JSON.stringify({ error }), status: 500 });
  await expect(readReport('2026-10-30', scope, () => undefined)).rejects.toMatchObject({
    ...error,
    status: 500,
  });
});
