/**
 * The faults, each as an operator would meet it. A supervisor starts a process again when it was killed, as systemd does; a machine that lost
 * power comes back after another one leads.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Clients } from './clients.ts';
import type { Cluster } from './cluster.ts';
import type { Machine, Service } from './machines.ts';

export interface Fault {
  /** As docs/reliability.md names it. */
  readonly name: string;
  /** Resolves when everything that it ended is running again. */
  readonly inject: (cluster: Cluster, clients: Clients) => Promise<void>;
}

/** systemd waits 100 ms before it starts a process again. */
const SUPERVISOR_MS = 100;
const FREEZE_MS = 20_000;
/** Longer than the key of the primary is valid, so that another machine leads when the frozen one continues. */
const LONG_FREEZE_MS = 30_000;
const OUTAGE_MS = 30_000;

async function killed(service: Service): Promise<void> {
  await service.end('SIGKILL');
  await delay(SUPERVISOR_MS);
  service.start();
}

/** Nothing on the machine runs, and its connections stay open: the state of a paused virtual machine. */
async function freeze(machine: Machine, milliseconds: number): Promise<void> {
  machine.patroni.signal('SIGSTOP');
  machine.etcd.signal('SIGSTOP');
  machine.signalPostgres('SIGSTOP');
  await delay(milliseconds);
  machine.signalPostgres('SIGCONT');
  machine.etcd.signal('SIGCONT');
  machine.patroni.signal('SIGCONT');
}

export const faults: readonly Fault[] = [
  {
    name: 'kill -9 of the primary PostgreSQL',
    inject: async (cluster) => {
      const old = await cluster.leader();
      old.signalPostgres('SIGKILL');
      // Patroni notices the loss within seconds. It promotes the standby instead of waiting for crash recovery.
      await cluster.leaderOtherThan(old);
    },
  },
  {
    name: 'kill -9 of the synchronous standby',
    inject: async (cluster) => (await cluster.synchronousStandby()).signalPostgres('SIGKILL'),
  },
  {
    name: 'kill -9 of the etcd leader',
    inject: async (cluster) => killed((await cluster.etcdLeader()).etcd),
  },
  {
    name: 'kill -9 of Patroni on the primary',
    inject: async (cluster) => killed((await cluster.leader()).patroni),
  },
  {
    name: 'the machine of the primary loses power',
    inject: async (cluster) => {
      const lost = await cluster.leader();
      await lost.kill();
      await cluster.leaderOtherThan(lost);
      lost.start();
    },
  },
  {
    name: 'SIGSTOP of the primary PostgreSQL for 20 s',
    inject: async (cluster) => {
      const primary = await cluster.leader();
      primary.signalPostgres('SIGSTOP');
      await delay(FREEZE_MS);
      primary.signalPostgres('SIGCONT');
    },
  },
  {
    name: 'SIGSTOP of the machine of the primary for 30 s',
    inject: async (cluster) => freeze(await cluster.leader(), LONG_FREEZE_MS),
  },
  {
    name: 'Patroni on the primary stays away until another machine leads',
    inject: async (cluster) => {
      const old = await cluster.leader();
      await old.patroni.end('SIGKILL');
      await cluster.leaderOtherThan(old);
      // Two primaries run side by side now.
      await delay(OUTAGE_MS / 3);
      old.patroni.start();
    },
  },
  {
    name: 'etcd without a majority for 30 s',
    inject: async (cluster) => {
      const [one, other] = cluster.machines;
      if (!one || !other) return;
      await Promise.all([one.etcd.end('SIGKILL'), other.etcd.end('SIGKILL')]);
      await delay(OUTAGE_MS);
      one.etcd.start();
      other.etcd.start();
    },
  },
  {
    name: 'planned switchover',
    inject: async (cluster) => {
      const old = await cluster.leader();
      await cluster.switchover();
      await cluster.leaderOtherThan(old);
    },
  },
  {
    name: 'kill -9 of a Sandbank node',
    inject: async (cluster) => {
      await cluster.killNode(0);
      await cluster.startNodes();
    },
  },
  {
    name: 'stop and start of everything',
    inject: async (cluster) => {
      await cluster.stopNodes();
      await cluster.stopMachines();
      cluster.startMachines();
      await cluster.whole();
      await cluster.startNodes();
    },
  },
  {
    name: 'kill -9 of everything at once',
    inject: async (cluster) => {
      await Promise.all([...cluster.machines.map((machine) => machine.kill()), cluster.killNodes()]);
      cluster.startMachines();
      await cluster.whole();
      await cluster.startNodes();
    },
  },
];
