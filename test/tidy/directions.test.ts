import { describe, expect, test } from 'vitest';
import { directions } from './directions.ts';
import { print, source } from './source.ts';

function check(path: string, ...lines: string[]): string[] {
  return directions([source(path, lines.join('\n'))]).map(print);
}

describe('a good import passes:', () => {
  test.each([
    ['src/kernel/money.ts', `import { assert } from './assert.ts'`],
    ['src/kernel/schema.ts', `import { Type } from 'typebox'`],
    ['src/ledger/fx.ts', `import { money } from '../kernel/money.ts'`],
    ['src/resources/payments/machine.ts', `import { entry } from '../../ledger/entry.ts'`],
    ['src/resources/payments/store.ts', `import type { Db } from '../../db/database.ts'`],
    ['src/resources/payments/store.ts', `import { Payment } from './machine.ts'`],
    ['src/resources/payments/api.ts', `import { find } from './store.ts'`],
    ['src/resources/refunds/machine.ts', `import { move } from '../payments/machine.ts'`],
    ['src/resources/ledger/api.ts', `import { table } from '../payments/store.ts'`],
    ['src/resources/index.ts', `import { payments } from './payments/api.ts'`],
    ['src/resources/payments/machine.ts', `import { rowOf } from './table.ts'`],
    ['src/resources/payments/advance.ts', `import { open } from '../disputes/machine.ts'`],
    ['src/resources/webhooks/replay-store.ts', `import { table } from './replay-table.ts'`],
    ['src/engine/persist.ts', `import { table } from '../resources/webhooks/delivery-table.ts'`],
    ['src/delivery/queue.ts', `import { find } from '../resources/webhooks/store.ts'`],
    ['src/engine/engine.ts', `import { open } from '../db/database.ts'`],
    ['src/db/pglite.ts', `new Worker(new URL('./pglite-worker.ts', import.meta.url))`],
    ['src/db/migrate.ts', `new URL('../../migrations/', import.meta.url)`],
    ['src/kernel/version.ts', `import pkg from '../../package.json' with { type: 'json' }`],
    ['src/http/app.ts', `import { resources } from '../resources/index.ts'`],
    ['src/workers/delivery.ts', `import { due } from '../resources/deliveries/store.ts'`],
    ['src/workers/delivery.ts', `import { retry } from '../resources/deliveries/machine.ts'`],
    ['src/main.ts', `import { app } from './http/app.ts'`],
    ['src/resources/payments/machine.test.ts', `import { decide } from './machine.ts'`],
    ['sdk/client.ts', `import { verify } from './webhooks.ts'`],
    ['cli/commands/start.ts', `import { boot } from '../../src/boot.ts'`],
    ['console/generated/shapes.ts', `export type * from '../../sdk/generated/shapes.ts'`],
    ['console/client/amount.ts', `import { parse } from '../../sdk/amount.ts'`],
    ['test/api/payments.test.ts', `import { open } from '../../src/db/database.ts'`],
  ])('%s: %s', (path, line) => {
    expect(check(path, line)).toEqual([]);
  });
});

describe('a bad import fails:', () => {
  test.each([
    ['src/kernel/money.ts', `import { entry } from '../ledger/entry.ts'`],
    ['console/client/queries.ts', `import { Payment } from '../../sdk/generated/shapes.ts'`],
    ['console/client/queries.ts', `import { Sandbank } from '../../sdk/client.ts'`],
    ['src/kernel/money.ts', `import type { Entry } from '../ledger/entry.ts'`],
    ['src/ledger/fx.ts', `import { db } from '../db/database.ts'`],
    ['src/resources/payments/machine.ts', `import { find } from './store.ts'`],
    ['src/resources/payments/machine.ts', `import { find } from '../../db/database.ts'`],
    ['src/resources/payments/store.ts', `import { present } from './api.ts'`],
    ['src/resources/payments/store.ts', `import { open } from '../../db/database.ts'`],
    ['src/resources/payments/store.ts', `import { type Db } from '../../db/database.ts'`],
    ['src/resources/payments/store.ts', `import { find } from '../customers/store.ts'`],
    ['src/resources/payments/api.ts', `import { present } from '../customers/api.ts'`],
    ['src/resources/payments/machine.ts', `import { table } from '../customers/store.ts'`],
    ['src/resources/ledger/api.ts', `import { entry } from '../../ledger/entry.ts'`],
    ['src/resources/payments/api.ts', `import type { Db } from '../../db/database.ts'`],
    ['src/resources/payments/api.ts', `import { resources } from '../index.ts'`],
    ['src/resources/payments/machine.test.ts', `import { find } from './store.ts'`],
    ['src/resources/index.ts', `import { engine } from '../engine/engine.ts'`],
    ['src/resources/payments/table.ts', `import { machine } from './machine.ts'`],
    ['src/resources/webhooks/replay-machine.ts', `import { find } from './replay-store.ts'`],
    ['src/resources/payments/transitions.test.ts', `import { find } from './store.ts'`],
    ['src/delivery/queue.ts', `import { routes } from '../resources/webhooks/api.ts'`],
    ['src/engine/engine.ts', `import { payments } from '../resources/payments/machine.ts'`],
    ['src/engine/engine.ts', `export { app } from '../http/app.ts'`],
    ['src/provider/card.ts', `import { db } from '../db/database.ts'`],
    ['src/db/pglite.ts', `import { engine } from '../engine/engine.ts'`],
    ['src/db/pglite.ts', `new Worker(new URL('../workers/delivery.js', import.meta.url))`],
    ['src/db/pglite.ts', `new URL(a ? './pglite.ts' : '../workers/delivery.js', import.meta.url)`],
    ['src/http/app.ts', `import { open } from '../db/database.ts'`],
    ['src/http/app.ts', `const { main } = await import('../main.ts')`],
    ['src/workers/delivery.ts', `import { present } from '../resources/deliveries/api.ts'`],
    ['src/config.ts', `import { open } from './db/database.ts'`],
    ['src/main.ts', `import { open } from '../test/support/postgres.ts'`],
    ['src/main.ts', `await import('../bench/bench.ts')`],
    ['src/main.ts', `await import(process.argv[2])`],
    ['src/engine/engine.test.ts', `import { open } from '../../test/support/postgres.ts'`],
    ['sdk/client.ts', `import type { Payment } from '../src/resources/payments/machine.ts'`],
    ['cli/payments.ts', `import { main } from '../src/main.ts'`],
    ['cli/main.ts', `import { open } from '../src/db/database.ts'`],
    ['console/src/api.ts', `import { find } from '../../src/resources/payments/api.ts'`],
    ['console/src/api.tsx', `import { sign } from '../../sdk/webhooks.ts'`],
  ])('%s: %s', (path, line) => {
    const violations = check(path, '', line);
    expect(violations).toHaveLength(1);
    expect(violations[0]).toMatch(`${path}:2 directions: `);
  });

  test('a file or folder that no law matches', () => {
    expect(check('src/gateway/card.ts')).toEqual([expect.stringContaining('no law matches this file')]);
  });
});
