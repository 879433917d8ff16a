import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { EngineMetrics } from '../engine/engine.ts';

export interface Metrics {
  readonly engine: EngineMetrics;
  readonly request: (labels: { method: string; route: string; status: number }, seconds: number) => void;
  readonly watchQueue: (length: () => number) => void;
  readonly text: () => Promise<string>;
  readonly contentType: string;
}

/** Prometheus metrics. They cost a little on every request, so nothing is measured unless `/metrics` is switched on. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const batchSize = new Histogram({
    name: 'sandbank_engine_batch_size',
    help: 'Commands written in one transaction',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    registers,
  });
  const batchSeconds = new Histogram({
    name: 'sandbank_engine_batch_seconds',
    help: 'Time from taking a batch to its commit',
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5],
    registers,
  });
  const waitSeconds = new Histogram({
    name: 'sandbank_engine_wait_seconds',
    help: 'Time that a command waits for its batch',
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5],
    registers,
  });
  const retries = new Counter({
    name: 'sandbank_engine_batch_retries_total',
    help: 'Batches that did not commit at first, by reason',
    labelNames: ['reason'] as const,
    registers,
  });
  const requestSeconds = new Histogram({
    name: 'sandbank_http_request_seconds',
    help: 'Time from a request to its answer',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5],
    registers,
  });
  return {
    engine: {
      batch: (size, milliseconds) => {
        batchSize.observe(size);
        batchSeconds.observe(milliseconds / 1000);
      },
      wait: (milliseconds) => waitSeconds.observe(milliseconds / 1000),
      retry: (reason) => retries.inc({ reason }),
    },
    request: (labels, seconds) => requestSeconds.observe(labels, seconds),
    watchQueue: (length) => {
      new Gauge({
        name: 'sandbank_engine_queue_length',
        help: 'Commands that wait for a batch',
        registers,
        collect() {
          this.set(length());
        },
      });
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

export const unmeasured: EngineMetrics = {
  batch: () => undefined,
  wait: () => undefined,
  retry: () => undefined,
};
