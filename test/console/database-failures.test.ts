import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { DatabaseFailure } from '../../src/db/failure.ts';
import type { Server } from '../../src/server.ts';
import { openServer } from '../support/server.ts';
import { newPerson } from '../support/visitor.ts';

let server: Server;
beforeAll(async () => {
  server = await openServer('pglite');
});
afterAll(() => server?.close());

test.each(['session', 'session/devices'])('%s gets 503 when the session cannot be read', async (path) => {
  const person = await newPerson(server);
  const broken = new DatabaseFailure('unavailable', new Error('read ECONNRESET'));
  const spy = vi.spyOn(server.database, 'execute').mockRejectedValue(broken);
  const { status, code, text } = await person.get(path);
  spy.mockRestore();
  expect({ status, code }, text).toEqual({ status: 503, code: 'service_unavailable' });
  expect((await person.get(path)).status).toBe(200);
});
