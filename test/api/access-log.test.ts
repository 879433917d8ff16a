import Fastify, { LogController } from 'fastify';
import { describe, expect, it } from 'vitest';
import { addAccessLog } from '../../src/http/access-log.ts';
import { loggerOptions } from '../../src/http/logger.ts';

/** An app whose log lines are parsed for the test. */
function logged(level: string) {
  const lines: Record<string, unknown>[] = [];
  const options = loggerOptions(level);
  const stream = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const app = Fastify({
    logger: typeof options === 'object' ? { ...options, stream } : false,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (logger) => logger,
  });
  app.decorateRequest('principal', null);
  app.decorateRequest('answered', null);
  app.decorateRequest('faultPlan', null);
  return { app, lines };
}

describe('the access log', () => {
  it('logs at most one slow-request warning per second, with the number of suppressed ones', async () => {
    const { app, lines } = logged('info');
    let now = 0;
    // Every request counts as slow, so that the test does not have to wait.
    addAccessLog(app, { logLevel: 'info', uptime: () => now, slowMs: 0 });
    app.get('/things/:id', async () => 'done');
    app.post('/_api/developer_api_clock/advance', async () => 'done');
    app.get('/endless', async (request) => {
      request.isEndless = true;
      return 'done';
    });
    for (let i = 0; i < 5; i += 1) await app.inject('/things/secret-of-a-caller?token=secret-too');
    now = 1_000;
    await app.inject('/endless');
    await app.inject({ method: 'POST', url: '/_api/developer_api_clock/advance' });
    expect(lines).toHaveLength(1);
    await app.inject('/things/1');
    expect(lines).toMatchObject([
      { level: 'warn', msg: 'slow request', route: '/things/:id', status: 200, more: 0, ip: '127.0.0.1' },
      { level: 'warn', msg: 'slow request', more: 4, requestId: expect.any(String) },
    ]);
    expect(JSON.stringify(lines)).not.toContain('secret');
    await app.close();
  });

  it('logs one line per request at level debug, and none at level info', async () => {
    for (const [level, count] of [
      ['debug', 2],
      ['info', 0],
    ] as const) {
      const { app, lines } = logged(level);
      addAccessLog(app, { logLevel: level, uptime: () => 0 });
      app.get('/', async () => 'done');
      await app.inject('/');
      await app.inject('/nothing');
      expect(lines).toHaveLength(count);
      if (count > 0) expect(lines[1]).toMatchObject({ msg: 'request', route: 'none', status: 404 });
      await app.close();
    }
  });

  it('logs an error with its cause, without the rows or keys in the database message', async () => {
    const { app, lines } = logged('warn');
    const key = `sbk_sandbox_${'A'.repeat(32)}`;
    const cause = Object.assign(new Error('duplicate key value'), {
      code: '23505',
      detail: 'Key (org_id, key)=(org_1, very-private) already exists.',
    });
    app.log.error(
      { err: new Error(`request failed for ${key}`, { cause }), requestId: 'req_1' },
      'a request failed',
    );
    expect(lines).toMatchObject([
      {
        level: 'error',
        requestId: 'req_1',
        err: { cause: { code: '23505', message: 'duplicate key value' } },
      },
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/AAAA|very-private/);
    expect(JSON.stringify(lines)).toContain('access-log.test.ts');
    await app.close();
  });
});
