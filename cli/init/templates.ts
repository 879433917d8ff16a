import { randomBytes } from 'node:crypto';
import type { Project } from './project.ts';

export interface FileTemplate {
  readonly path: string;
  readonly content: string;
}

/** The configuration of a test runner that starts the server once for all test files. */
export interface RunnerSetup extends FileTemplate {
  /** What a configuration that exists already needs. */
  readonly lines: string;
  /** A configuration that contains it needs nothing. */
  readonly marker: string;
}

const seedFile = 'sandbank.seed.json';
const scopes = ['payments', 'customers', 'transfers', 'webhooks'].flatMap((name) => [
  `${name}:read`,
  `${name}:write`,
]);

/** `schema` is the path or URL of the JSON Schema. Each project gets its own key and password. */
export function seedTemplate(schema: string): FileTemplate {
  const seed = {
    $schema: schema,
    organizations: [
      {
        name: 'Development',
        users: [{ email: 'dev@example.com', password: randomBytes(12).toString('hex'), role: 'owner' }],
        applications: [
          {
            name: 'app',
            apiKeys: [
              {
                name: 'local',
                key: `sbk_sandbox_${randomBytes(16).toString('hex')}`,
                scopes,
                mayReset: true,
              },
            ],
          },
        ],
      },
    ],
  };
  return { path: seedFile, content: `${JSON.stringify(seed, null, 2)}\n` };
}

/** A first test, for the test runner of the project. */
export function testTemplate(project: Project): FileTemplate {
  const at = (name: string) => (project.testFolder === '.' ? name : `${project.testFolder}/${name}`);
  switch (project.runner) {
    case 'vitest':
      return { path: at(`sandbank.test.${project.isTypescript ? 'ts' : 'js'}`), content: vitestTest };
    case 'jest':
      return { path: at('sandbank.test.js'), content: jestTest(project.isModule) };
    case 'pytest':
      return { path: at('test_sandbank.py'), content: pythonTest };
    default:
      return { path: at('sandbank.test.mjs'), content: nodeTest };
  }
}

/** Undefined for runners that need no configuration. */
export function setupTemplate({ runner, isTypescript }: Project): RunnerSetup | undefined {
  if (runner === 'vitest')
    return {
      path: `vitest.config.${isTypescript ? 'mts' : 'mjs'}`,
      content: vitestConfig,
      lines: "test: { globalSetup: ['sandbank/vitest/setup'] }",
      marker: 'sandbank/vitest/setup',
    };
  if (runner === 'jest')
    return {
      path: 'jest.config.mjs',
      content: jestConfig,
      lines: "globalSetup: 'sandbank/jest/setup', globalTeardown: 'sandbank/jest/teardown'",
      marker: 'sandbank/jest/setup',
    };
  return undefined;
}

const vitestConfig = `import { defineConfig } from 'vitest/config';

export default defineConfig({
  // One server for all test files.
  test: { globalSetup: ['sandbank/vitest/setup'] },
});
`;

const vitestTest = `import { test } from 'sandbank/vitest';
import { expect } from 'vitest';

// Each test gets its own tenant: an organization with an application, an API key and a clock.
test('a payment settles', async ({ tenant }) => {
  const { id } = await tenant.client.payments.create({ amount: 1250, currency: 'EUR' });
  await tenant.client.payments.advance(id, { to: 'settled' });

  const event = await tenant.events.waitFor('payment.settled');
  expect(event.data).toMatchObject({ id, status: 'settled' });
});
`;

const jestConfig = `export default {
  // One server for all test files.
  globalSetup: 'sandbank/jest/setup',
  globalTeardown: 'sandbank/jest/teardown',
};
`;

const jestTest = (isModule: boolean) => `${
  isModule
    ? "import { withTenant } from 'sandbank/jest';"
    : "const { withTenant } = require('sandbank/jest');"
}

// Each test gets its own tenant: an organization with an application, an API key and a clock.
test(
  'a payment settles',
  withTenant(async (tenant) => {
    const { id } = await tenant.client.payments.create({ amount: 1250, currency: 'EUR' });
    await tenant.client.payments.advance(id, { to: 'settled' });

    const event = await tenant.events.waitFor('payment.settled');
    expect(event.data).toMatchObject({ id, status: 'settled' });
  }),
);
`;

const nodeTest = `import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startSandbank } from 'sandbank/testing';

let sandbank;
before(async () => {
  sandbank = await startSandbank();
});
after(() => sandbank.close());

test('a payment settles', async () => {
  // Each test creates its own tenant: an organization with an application, an API key and a clock.
  const tenant = await sandbank.tenant();
  const { id } = await tenant.client.payments.create({ amount: 1250, currency: 'EUR' });
  await tenant.client.payments.advance(id, { to: 'settled' });

  const event = await tenant.events.waitFor('payment.settled');
  assert.equal(event.data.id, id);
  assert.equal(event.data.status, 'settled');
});
`;

const pythonTest = `"""A first test against a running server. Start one with: npx sandbank start"""

import json
import os
import uuid
from pathlib import Path
from urllib.request import Request, urlopen

URL = os.environ.get("SANDBANK_URL", "http://127.0.0.1:4000")
SEED_FILE = Path(__file__).resolve().parent.parent / "${seedFile}"


def api_key():
    if "SANDBANK_API_KEY" in os.environ:
        return os.environ["SANDBANK_API_KEY"]
    seed = json.loads(SEED_FILE.read_text(encoding="utf-8"))
    return seed["organizations"][0]["applications"][0]["apiKeys"][0]["key"]


def post(path, body):
    headers = {
        "Authorization": f"Bearer {api_key()}",
        "Content-Type": "application/json",
        "Idempotency-Key": str(uuid.uuid4()),
    }
    request = Request(f"{URL}/_api/{path}", data=json.dumps(body).encode(), headers=headers)
    with urlopen(request, timeout=30) as response:
        return json.load(response)


def test_a_payment_settles():
    payment = post("developer_api_payments", {"amount": 1250, "currency": "EUR"})
    settled = post(f"developer_api_payments/{payment['id']}/advance", {"to": "settled"})
    assert settled["status"] == "settled"
`;
