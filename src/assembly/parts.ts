import { Operator } from '../admin/operator.ts';
import { findBooksProblem } from '../admin/verify-organization.ts';
import { listenPostgres } from '../db/listener.ts';
import { createReader } from '../db/reader.ts';
import { AddressGuard } from '../delivery/address-guard.ts';
import { Deliverer } from '../delivery/deliverer.ts';
import { createDeliveries } from '../delivery/deliveries.ts';
import { Inbox } from '../delivery/inbox.ts';
import { DeliveryQueue } from '../delivery/queue.ts';
import { Sender } from '../delivery/sender.ts';
import { CoverageJournal } from '../engine/coverage-journal.ts';
import { Engine } from '../engine/engine.ts';
import { ExaminationJournal } from '../engine/examination-journal.ts';
import { FaultCounter } from '../engine/fault-counter.ts';
import { newSuffix } from '../engine/ids.ts';
import { RequestJournal } from '../engine/request-journal.ts';
import { Seals } from '../engine/seals.ts';
import { EventStreams } from '../http/event-stream.ts';
import { HeldRequests } from '../http/held-requests.ts';
import { unmeasured } from '../http/metrics.ts';
import type { Reader } from '../kernel/table.ts';
import { providers } from '../provider/index.ts';
import { coverageUniverse, eventCatalogue, resources } from '../resources/index.ts';
import { presentEntry } from '../resources/ledger/views.ts';
import { ClockRunner } from '../runs/advance-run.ts';
import { Examinations } from '../runs/examination-run.ts';
import { createPorts } from '../runs/ports.ts';
import { Replayer } from '../runs/replay-run.ts';
import { Snapshots } from '../snapshots/snapshots.ts';
import { SnapshotStore } from '../snapshots/store.ts';
import { Coverage } from '../workers/coverage.ts';
import { RequestLog } from '../workers/request-log.ts';
import { Sealer } from '../workers/sealer.ts';
import { docsUrlOf, type Foundation } from './foundation.ts';

interface Core {
  readonly engine: Engine;
  readonly reader: Reader;
}

/** All parts of the server except the HTTP layer. */
export type Parts = ReturnType<typeof createParts>;

export function createParts(foundation: Foundation) {
  const { config, database, vault, people, wallClock, address, telemetry } = foundation;
  const core = createCore(foundation);
  const { engine, reader } = core;
  const delivery = createDelivery(foundation, core);
  const journals = createJournals(foundation, reader);
  const runs = createRuns(foundation, core, delivery);
  const snapshots = new Snapshots({
    store: new SnapshotStore(database, findBooksProblem),
    ...{ vault, idGenerator: foundation.idGenerator, wallClock },
    onImport: (orgId, webhooks) => delivery.deliveries.onImport(orgId, webhooks),
  });
  const ports = createPorts({
    ...{ engine, reader, vault, people, snapshots, wallClock },
    ...{ ...delivery, ...journals, ...runs },
    publicUrl: () => address.current,
    isOpen: config.registration === 'open',
  });
  const operator = new Operator({ ...core, wallClock, ports, snapshots, realTime: Date.now });
  engine.watch((committed) => {
    delivery.deliveries.onCommit(committed);
    journals.sealer.onCommit(committed);
    journals.eventStreams.onCommit(committed);
    delivery.faults.onCommit(committed);
    journals.coverage.onCommit(committed);
  });
  telemetry.metrics?.watch({ ...core, database, ...delivery, ...journals, wallClock });
  return { ...core, ...delivery, ...journals, ...runs, snapshots, ports, operator };
}

function createCore(foundation: Foundation): Core {
  const { database, telemetry, vault, idGenerator, onBug } = foundation;
  const { metrics, tracing } = telemetry;
  const engine = new Engine(telemetry.traced(database), {
    resources: new Map(resources.map((resource) => [resource.name, resource])),
    providers,
    presentEntry,
    docsUrl: docsUrlOf(foundation),
    ...{ vault, idGenerator, tracing, onBug },
    metrics: metrics?.engine ?? unmeasured,
  });
  return { engine, reader: telemetry.reading(createReader(database)) };
}

/** Webhook delivery: the address guard, the queue of due deliveries, the sender, and the inboxes of this server. */
function createDelivery(foundation: Foundation, { engine, reader }: Core) {
  const { config, database, telemetry, vault, wallClock, isAlone, onError } = foundation;
  const guard = new AddressGuard({ allowsPrivate: config.allowsPrivateWebhooks });
  const queue = new DeliveryQueue(database, newSuffix());
  const sender = new Sender(guard);
  const faults = new FaultCounter(database, wallClock);
  const deliverer = new Deliverer({
    ...{ queue, engine, sender, vault, faults, wallClock, onError },
    endpointsInClaimMax: isAlone ? 200 : 8,
    measures: telemetry.metrics?.deliveries,
    tracing: telemetry.tracing,
    realTime: Date.now,
  });
  const deliveries = createDeliveries({
    ...{ deliverer, queue, reader, wallClock, isAlone, onError },
    replayer: new Replayer({ engine, reader, wallClock }),
    listen: (onNotification) =>
      listenPostgres(config.databaseUrl ?? '', 'sandbank_work', onNotification, (error) =>
        onError(error, 'LISTEN connection lost; falling back to polling'),
      ),
  });
  const inbox = new Inbox({ reader, vault, wallClock, realTime: Date.now });
  return { guard, queue, sender, faults, deliverer, deliveries, inbox, heldRequests: new HeldRequests() };
}

/** Data that is written or sent after the response: the request log, coverage, audit trail seals and event streams. */
function createJournals({ database, telemetry, wallClock, uptime, onError }: Foundation, reader: Reader) {
  const journal = new RequestJournal(database);
  const measures = telemetry.metrics?.requestLog;
  return {
    journal,
    requestLog: new RequestLog({ journal, wallClock, uptime, onError, measures }),
    coverage: new Coverage({
      universe: coverageUniverse,
      journal: new CoverageJournal(database),
      onError,
    }),
    sealer: new Sealer({ seals: new Seals(database), wallClock, onError }),
    eventStreams: new EventStreams({ reader, wallClock, onError }),
  };
}

/** Commands that run in several transactions and can be stopped. */
function createRuns(
  { database, vault, wallClock, uptime, onError }: Foundation,
  { engine, reader }: Core,
  { deliverer, sender }: Pick<ReturnType<typeof createDelivery>, 'deliverer' | 'sender'>,
) {
  const nextMark = (appId: string) => deliverer.nextMark(appId);
  return {
    runner: new ClockRunner({ engine, reader, wallClock, nextMark, onError, uptime }),
    examinations: new Examinations({
      ...{ engine, vault, sender, catalogue: eventCatalogue, wallClock },
      journal: new ExaminationJournal(database),
      realTime: Date.now,
    }),
  };
}
