import { beforeAll, describe, expect, test } from 'vitest';
import { lifecycleMoves } from '../../src/kernel/machine.ts';
import { resources } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { ApiClient } from '../support/api-client.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

const path = 'developer_api_state_machines';

interface MachineBody {
  readonly resource: string;
  readonly states: readonly string[];
  readonly finalStates: readonly string[];
  readonly goal: string | null;
  readonly setbacks: readonly string[];
  readonly events: readonly string[];
  readonly moves: readonly {
    action: string;
    from: readonly string[];
    to: readonly string[];
    events: readonly string[];
    condition: string | null;
    broughtBy: string | null;
  }[];
}

describe.each(databaseKinds)('state machines on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let machines: ReadonlyMap<string, MachineBody>;

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await tenant(server);
    const { body } = await acme.client.get(path);
    expect(body).toMatchObject({ object: 'state_machines', status: 'ok' });
    machines = new Map((body.machines as MachineBody[]).map((machine) => [machine.resource, machine]));
  });

  const machineOf = (name: string) => {
    const machine = machines.get(name);
    if (!machine) throw new Error(`there is no machine named ${name}`);
    return machine;
  };

  test('the response matches the machines that the server uses', () => {
    const used = resources.filter(({ emitsEvents }) => emitsEvents);
    expect([...machines.keys()]).toEqual(used.map(({ name }) => name));
    for (const { name, machine } of used) {
      const { states, moves } = machineOf(name);
      expect(states).toEqual(machine.states);
      expect(moves.map(({ action, from, to, condition }) => ({ action, from, to, condition }))).toEqual(
        lifecycleMoves(machine).map(({ action, from, to, when }) => ({
          action,
          from,
          to,
          condition: when?.description ?? null,
        })),
      );
    }
  });

  test('final states are those without outgoing transitions', () => {
    expect(machineOf('payment').finalStates).toEqual(['refunded', 'charged_back', 'canceled', 'expired']);
    expect(machineOf('refund').finalStates).toEqual(['succeeded', 'failed', 'canceled']);
    expect(machineOf('dispute').finalStates).toEqual(['won', 'lost']);
  });

  test('goal and setbacks are states of the machine', () => {
    expect(machineOf('payment').goal).toBe('settled');
    expect(machineOf('payment').setbacks).toContain('disputed');
    expect(machineOf('dispute')).toMatchObject({ goal: 'won', setbacks: ['lost'] });
    expect(machineOf('customer').goal).toBeNull();
    for (const { states, goal, setbacks } of machines.values()) {
      expect(states).toEqual(expect.arrayContaining([...setbacks]));
      expect(setbacks).not.toContain(goal);
    }
  });

  test('events are named by their target state, except those that do not change the state', () => {
    for (const { resource, moves, events } of machines.values()) {
      for (const { to, events: emitted } of moves) {
        const byArrival = to.map((state) => `${resource}.${state}`);
        const others = ['created', 'updated', 'settled', 'tested'].map((name) => `${resource}.${name}`);
        for (const event of emitted) {
          expect([...byArrival, ...others]).toContain(event);
          expect(events).toContain(event);
        }
      }
    }
    expect(machineOf('payment').events).toContain('payment.charged_back');
    expect(machineOf('payment').moves.filter(({ broughtBy }) => broughtBy !== null).length).toBeGreaterThan(
      0,
    );
  });

  test('every state is reachable, and some transition emits every event', () => {
    for (const { states, moves, events } of machines.values()) {
      expect(new Set(moves.flatMap(({ to }) => to))).toEqual(new Set(states));
      expect(new Set(moves.flatMap(({ events: emitted }) => emitted))).toEqual(new Set(events));
    }
    // These transitions emit no event.
    expect(machineOf('webhook').moves.find(({ action }) => action === 'rotate_secret')?.events).toEqual([]);
  });

  test('accepts any key, requires one, and rejects query parameters', async () => {
    const scopeless = await acme.addKey({ scopes: [] });
    expect((await scopeless.client.get(path)).status).toBe(200);
    expect((await new ApiClient(server.app, null).get(path)).code).toBe('api_key_missing');
    expect((await acme.client.get(path, 'resource=payment')).code).toBe('invalid_request');
  });
});
