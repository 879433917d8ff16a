/** Data of the previous release, which is built from the history of the repository, in this release. */
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scopes } from '../../src/kernel/permissions.ts';
import { hasPreviousRelease, previousRelease } from '../support/previous-release.ts';
import { runToEnd, type ServerProcess, startServer } from '../support/processes.ts';
import { call, PAYMENTS, post, postOk } from './support/client.ts';
import { ConsoleClient } from './support/console-client.ts';
import { changedRecords, RecordWriter, readRecords } from './support/release-records.ts';
import { acceptImmediately, type Inbox, openInbox } from './support/webhook-receiver.ts';
import { allSent, CLOCK, DELIVERIES, type Deployment, openDeployment } from './support/webhook-servers.ts';

const API = '/_api/developer_api_';
const notYet = () => ({ status: 500, afterMs: 0 });

interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly webhookId: string;
}

describe.skipIf(!hasPreviousRelease())('data of the previous release (skipped without its history)', () => {
  const started: ServerProcess[] = [];
  let inbox: Inbox;
  let deployment: Deployment;
  let writer: RecordWriter;
  let before: ReadonlyMap<string, unknown>;
  let person: ConsoleClient;
  /** Created in the console, for an organization of the person. */
  let createdKey: string;
  const inFolder = (name: string) => path.join(deployment.path, name);
  const snapshot = 'state.jsonl.gz';
  const newer = 'newer.jsonl';

  beforeAll(async () => {
    const root = await previousRelease();
    inbox = await openInbox({ later: notYet, disabled: acceptImmediately });
    deployment = openDeployment(inbox, []);
    const args = ['--export-on-exit', inFolder(snapshot)];
    const old = await deployment.start({ root, dataDir: inFolder('data') }, ...args);
    writer = new RecordWriter(old.url);
    await writer.writeAll(inbox.urlOf(''));
    person = await ConsoleClient.signUp(old.url);
    const { id: orgId } = await person.post('session/organizations', { name: 'Initrode' });
    const { id: appId } = await person.post(`${orgId}/applications`, { name: 'shop' });
    const created = await person.post(`${orgId}/${appId}/api_keys`, { name: 'ci', scopes: [...scopes] });
    createdKey = String(created.key);
    await postOk(old.url + PAYMENTS, { amount: 990, currency: 'EUR' }, 'other-organization', createdKey);
    before = await readRecords(old.url);
    expect(await old.stop(), old.logs()).toBe(0);
  });
  afterAll(async () => {
    await Promise.all(started.map((server) => server.kill()));
    await deployment?.remove();
    await inbox?.close();
  });

  async function deliveriesOf({ url }: ServerProcess): Promise<readonly Delivery[]> {
    const { body } = await call(`${url}${DELIVERIES}?limit=100&status=pending`);
    return body.data as readonly Delivery[];
  }

  async function expectSound(server: ServerProcess, dataDir: string): Promise<void> {
    expect(await server.stop(), server.logs()).toBe(0);
    const { code, stdout } = await runToEnd({ dataDir, args: ['verify'] });
    expect(code, stdout).toBe(0);
  }

  test('a data directory: records, stored responses, keys and people are the same, and pending webhooks are delivered', async () => {
    const dataDir = inFolder('data');
    const server = await deployment.start({ dataDir }, '--export-on-exit', inFolder(newer));
    expect(changedRecords(before, await readRecords(server.url))).toEqual([]);
    for (const [status, count] of [
      ['failed', 1],
      ['expired', 1],
      ['disputed', 3],
    ] as const) {
      const { body } = await call(`${server.url}${PAYMENTS}?status=${status}`);
      expect([status, (body.data as unknown[]).length]).toEqual([status, count]);
    }

    for (const { path, idempotencyKey, body, answer } of writer.writes) {
      const again = await post(server.url + API + path, body, idempotencyKey);
      // Responses of 0.1.0 do not name their actor, so nobody gets their secrets.
      const { secret, ...expected } = answer.body;
      expect({ path, status: again.status, body: again.body }).toEqual({
        path,
        status: answer.status,
        body: expected,
      });
      expect(again.isReplay, path).toBe(true);
      if (secret === undefined) expect(again.text).toBe(answer.text);
    }
    expect(changedRecords(before, await readRecords(server.url))).toEqual([]);

    const { body: listed } = await call(server.url + PAYMENTS, { key: createdKey });
    expect(listed.data).toMatchObject([{ amount: 990 }]);
    for (const browser of [person.at(server.url), await ConsoleClient.signIn(server.url, person.email)])
      expect(await browser.get('session')).toMatchObject({ person: { email: person.email } });

    // Half of the deliveries wait for a retry, and half for the endpoint to be enabled.
    const pending = await deliveriesOf(server);
    expect(pending.length).toBeGreaterThan(10);
    const earlier = inbox.arrivals.length;
    inbox.answer('later', acceptImmediately);
    const { body: disabled } = await call(`${server.url}${API}webhooks?status=disabled`);
    const [endpoint] = disabled.data as readonly { readonly id: string }[];
    await postOk(`${server.url}${API}webhooks/${endpoint?.id}/enable`, {});
    await postOk(`${server.url}${CLOCK}/advance`, { seconds: 7_200 });
    await allSent(server.url);
    const arrived = inbox.arrivals.slice(earlier).map(({ endpoint: name, id }) => `${name} ${id}`);
    const expected = pending.map(
      ({ webhookId, eventId }) => `${webhookId === endpoint?.id ? 'disabled' : 'later'} ${eventId}`,
    );
    expect(arrived.filter((one) => expected.includes(one)).sort()).toEqual(expected.sort());
    await expectSound(server, dataDir);

    // The way back: the previous release works with the directory, and rejects a snapshot of this one.
    const root = await previousRelease();
    const old = await deployment.start({ root, dataDir });
    const payment = { amount: 1_250, currency: 'EUR' };
    const { id } = await postOk(old.url + PAYMENTS, payment, 'rollback');
    await postOk(`${old.url}${PAYMENTS}/${String(id)}/advance`, { to: 'captured' });
    expect((await call(old.url + PAYMENTS, { key: createdKey })).body.data).toMatchObject([{ amount: 990 }]);
    expect(await old.stop(), old.logs()).toBe(0);
    const refused = await runToEnd({ root, dataDir: inFolder('back'), args: ['--import', inFolder(newer)] });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/the snapshot has format 2 /)]);
    await expectSound(await deployment.start({ dataDir }), dataDir);
  });

  test('a snapshot: the same records, key and pending deliveries', async () => {
    const dataDir = inFolder('imported');
    inbox.answer('later', notYet);
    // Without the seed file, which would create the organization before the import.
    const args = ['--import', inFolder(snapshot)];
    const env = { SANDBANK_PRIVATE_WEBHOOKS: 'on' };
    const server = await startServer({ dataDir, args, env });
    started.push(server);
    const changed = changedRecords(before, await readRecords(server.url));
    // A snapshot does not contain the health of endpoints, in either release.
    expect(changed.filter((change) => !/^webhooks\/\w+\.health\./.test(change))).toEqual([]);
    const { body } = await call(server.url + PAYMENTS, { key: createdKey });
    expect(body.data).toMatchObject([{ amount: 990 }]);
    expect((await deliveriesOf(server)).length).toBeGreaterThan(10);
    await expectSound(server, dataDir);
  });
});
