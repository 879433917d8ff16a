import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setGlobalOrigin } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { IdempotencyKey } from './idempotency.ts';
import { createQueryClient, keys } from './queries.ts';
import {
  ApiProblem,
  apiUrl,
  asProblem,
  get,
  isReachable,
  noScope,
  type Path,
  post,
  type Query,
} from './request.ts';

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const received: Received[] = [];
let respond: (response: ServerResponse, request: Received) => void;

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const { method, url, headers } = request;
    const one = { method, url, headers, body: Buffer.concat(parts).toString() };
    received.push(one);
    respond(response, one);
  });
});

function json(status: number, body: unknown, headers: Record<string, string> = {}) {
  return (response: ServerResponse) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  // The console requests relative URLs; in a browser the page's origin completes them.
  setGlobalOrigin(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
beforeEach(() => {
  received.length = 0;
  respond = json(200, { object: 'ok' });
});
afterAll(async () => {
  setGlobalOrigin(undefined);
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

const scope = { orgId: 'org_1', appId: 'app_1' };

async function problemOf(promise: Promise<unknown>): Promise<ApiProblem> {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof ApiProblem)) throw new Error('expected an ApiProblem', { cause: thrown });
  return thrown;
}

describe('apiUrl', () => {
  test.each<[Path, Query, string]>([
    ['session', {}, '/console/api/session'],
    ['session/sign_in', {}, '/console/api/session/sign_in'],
    ['org/members', {}, '/console/api/org_1/members'],
    ['app/developer_api_payments', {}, '/console/api/org_1/app_1/developer_api_payments'],
    ['app/a', { limit: 25, cursor: 'c1' }, '/console/api/org_1/app_1/a?limit=25&cursor=c1'],
    ['app/a', { limit: 0, isOpen: false }, '/console/api/org_1/app_1/a?limit=0&isOpen=false'],
    ['app/a', { status: '', q: undefined, cursor: null }, '/console/api/org_1/app_1/a'],
    ['app/a', { q: 'a b&c=d?#/+é' }, '/console/api/org_1/app_1/a?q=a+b%26c%3Dd%3F%23%2F%2B%C3%A9'],
  ])('of %s with %j is %s', (path, query, url) => {
    expect(apiUrl(path, scope, query)).toBe(url);
  });
});

test.each<[Path, string | null, string | null, boolean]>([
  ['session', null, null, true],
  ['session/devices', null, null, true],
  ['org/members', null, null, false],
  ['org/members', 'org_1', null, true],
  ['app/api_keys', null, null, false],
  ['app/api_keys', 'org_1', null, false],
  ['app/api_keys', 'org_1', 'app_1', true],
])('%s with organization %s and application %s is requested: %s', (path, orgId, appId, isRequested) => {
  expect(isReachable(path, { orgId, appId })).toBe(isRequested);
});

describe('requests', () => {
  test('a read sends its query and no body', async () => {
    expect(await get('app/developer_api_payments', { limit: 25, status: '' }, scope)).toEqual({
      object: 'ok',
    });
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({
      method: 'GET',
      url: '/console/api/org_1/app_1/developer_api_payments?limit=25',
      body: '',
    });
    expect(received[0]?.headers['idempotency-key']).toBeUndefined();
  });

  // Other sites cannot send this content type without a CORS preflight, which the server rejects.
  test('a write sends JSON, with its Idempotency-Key', async () => {
    await post('app/developer_api_payments', { amount: 1250, description: 'Größe' }, 'key-1', scope);
    expect(received[0]).toMatchObject({
      method: 'POST',
      url: '/console/api/org_1/app_1/developer_api_payments',
    });
    expect(received[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'idempotency-key': 'key-1',
    });
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({ amount: 1250, description: 'Größe' });
  });

  test.each([undefined, null])('a write with the body %s sends an empty object and no key', async (body) => {
    await post('session/sign_out', body);
    expect(received[0]?.body).toBe('{}');
    expect(received[0]?.headers['idempotency-key']).toBeUndefined();
  });
});

describe('problems', () => {
  const error = {
    code: 'invalid_request',
    message: 'Amount is too large.',
    param: 'amount',
    details: { most: 5 },
    allowedActions: ['cancel'],
    docUrl: '/docs/errors#invalid_request',
  };

  test.each([400, 401, 403, 404, 409, 422, 429, 500, 503])(
    'a %i keeps every field of the error',
    async (status) => {
      respond = json(status, { requestId: 'req_1', error }, { 'Retry-After': '7' });
      const problem = await problemOf(get('session'));
      expect(problem).toMatchObject({ ...error, status, requestId: 'req_1', retryAfter: 7 });
    },
  );

  test.each([
    ['an HTML page', '<html>Bad gateway</html>'],
    ['an empty body', ''],
    ['JSON without an error', '{"ok":false}'],
    ['the JSON null', 'null'],
  ])('%s with status 502 is an unreadable response that names the status', async (_, body) => {
    respond = json(502, body);
    const problem = await problemOf(get('session'));
    expect(problem).toMatchObject({ status: 502, code: 'unreadable_answer', requestId: undefined });
    expect(problem.message).toContain('502');
  });

  test.each([undefined, 'Wed, 21 Oct 2026 07:28:00 GMT'])(
    'Retry-After %s is not a number of seconds',
    async (value) => {
      respond = json(429, { error }, value === undefined ? {} : { 'Retry-After': value });
      expect((await problemOf(get('session'))).retryAfter).toBeUndefined();
    },
  );

  test('a success that is not JSON is a problem, not data', async () => {
    respond = json(200, '<html>');
    expect(await problemOf(get('session'))).toMatchObject({ status: 200, code: 'unreadable_answer' });
  });

  test('a connection that closes without a response is network_failed with status 0', async () => {
    respond = (response) => response.destroy();
    expect(await problemOf(post('session/a', {}))).toMatchObject({
      status: 0,
      code: 'network_failed',
      isOutcomeUnknown: true,
    });
  });

  test('a success whose body is cut off has an unknown outcome: the retry sends the same key', async () => {
    respond = (response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' });
      response.write('{"object":', () => response.destroy());
    };
    const problem = await problemOf(post('session/a', {}));
    expect(problem).toMatchObject({ status: 200, isOutcomeUnknown: true });
    const key = new IdempotencyKey();
    const first = key.of('session/a', {});
    key.settle(problem);
    expect(key.of('session/a', {})).toBe(first);
  });

  test('a read that the caller aborts throws the abort and not a problem', async () => {
    const controller = new AbortController();
    respond = () => controller.abort(new Error('left the page'));
    await expect(get('session', {}, noScope, controller.signal)).rejects.toThrow('left the page');
  });

  test.each<[number, string, boolean]>([
    [0, 'network_failed', true],
    [429, 'rate_limited', true],
    [500, 'internal_error', true],
    [503, 'service_unavailable', true],
    [409, 'idempotency_in_progress', true],
    [400, 'invalid_request', false],
    [401, 'session_missing', false],
    [404, 'resource_not_found', false],
    [409, 'invalid_state_transition', false],
    [422, 'idempotency_key_reused', false],
  ])('a write that ended with %i %s has an unknown outcome: %s', (status, code, isUnknown) => {
    expect(new ApiProblem({ status, code, message: '' }).isOutcomeUnknown).toBe(isUnknown);
  });

  test('asProblem keeps a problem and wraps everything else', () => {
    const problem = new ApiProblem({ status: 404, code: 'resource_not_found', message: 'Gone.' });
    expect(asProblem(problem)).toBe(problem);
    expect(asProblem(new TypeError('x is undefined'))).toMatchObject({
      status: 0,
      code: 'console_failed',
      message: 'x is undefined',
    });
    expect(asProblem('text')).toMatchObject({ code: 'console_failed' });
  });
});

describe('Idempotency-Key of a form', () => {
  const path: Path = 'app/developer_api_payments';

  /** Sends one write as the console's forms do. */
  async function write(key: IdempotencyKey, body: unknown, to = path): Promise<string | undefined> {
    await post(to, body, key.of(to, body), scope).then(
      () => key.settle(),
      (thrown) => key.settle(asProblem(thrown)),
    );
    return received.at(-1)?.headers['idempotency-key'] as string | undefined;
  }

  const errorResponse = (status: number, code: string) => json(status, { error: { code, message: '' } });

  test.each<[string, (response: ServerResponse) => void]>([
    ['a closed connection', (response) => response.destroy()],
    ['a 500', errorResponse(500, 'internal_error')],
    ['a 503', errorResponse(503, 'service_unavailable')],
    ['a 429', errorResponse(429, 'rate_limited')],
    ['a request still in progress', errorResponse(409, 'idempotency_in_progress')],
  ])('stays the same for the same body after %s', async (_, outcome) => {
    const key = new IdempotencyKey();
    respond = outcome;
    const first = await write(key, { amount: 1 });
    const second = await write(key, { amount: 1 });
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(second).toBe(first);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['a success', json(200, {})],
    ['a rejection', errorResponse(400, 'invalid_request')],
    ['a conflict', errorResponse(409, 'invalid_state_transition')],
  ])('is new for the same body after %s', async (_, outcome) => {
    const key = new IdempotencyKey();
    respond = outcome;
    expect(await write(key, { amount: 1 })).not.toBe(await write(key, { amount: 1 }));
  });

  test('is new for an edited body or another path, also after an unknown outcome', async () => {
    const key = new IdempotencyKey();
    respond = errorResponse(500, 'internal_error');
    const sent = [
      await write(key, { amount: 1 }),
      await write(key, { amount: 2 }),
      await write(key, { amount: 2 }, 'app/developer_api_transfers'),
    ];
    expect(new Set(sent).size).toBe(3);
  });
});

describe('query client', () => {
  test.each<[number, boolean]>([
    [0, true],
    [500, true],
    [503, true],
    [400, false],
    [401, false],
    [404, false],
    [429, false],
  ])('a read that failed with %i is retried: %s', (status, isRetried) => {
    const retry = createQueryClient(() => undefined).getDefaultOptions().queries?.retry;
    if (typeof retry !== 'function') throw new Error('retry is not a function');
    const problem = new ApiProblem({ status, code: 'x', message: '' });
    expect(retry(0, problem)).toBe(isRetried);
    expect(retry(1, problem)).toBe(isRetried);
    expect(retry(2, problem)).toBe(false);
  });

  test.each([
    ['session_missing', 1],
    ['role_missing', 0],
  ])('after %s the session ends %i times', async (code, times) => {
    respond = json(401, { error: { code, message: '' } });
    let ended = 0;
    const client = createQueryClient(() => {
      ended += 1;
    });
    const options = {
      queryKey: keys.read('org/members', scope),
      queryFn: () => get('org/members', {}, scope),
    };
    expect((await problemOf(client.fetchQuery(options))).code).toBe(code);
    expect(ended).toBe(times);
    client.clear();
  });

  test('the cache separates organizations and applications', () => {
    const other = { orgId: 'org_1', appId: 'app_2' };
    expect(keys.read('app/a', scope)).not.toEqual(keys.read('app/a', other));
    expect(keys.read('org/a', scope)).toEqual(keys.read('org/a', other));
    expect(keys.read('app/a', scope).slice(0, 3)).toEqual(keys.application('org_1', 'app_1'));
    expect(keys.read('org/a', scope).slice(0, 2)).toEqual(keys.organization('org_1'));
    expect(keys.read('session', noScope).slice(0, 1)).toEqual(keys.session);
  });
});
