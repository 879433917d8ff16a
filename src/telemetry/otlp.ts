import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  type Link,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type {
  CommandSpan,
  DeliveryTracing,
  EngineTracing,
  Fields,
  RequestTracing,
  Span,
  StatementObserver,
  TracedAttempt,
} from './ports.ts';
import { idsOfRequest, parseTraceparent, traceparentOf } from './trace-ids.ts';

export interface TracingSettings {
  readonly version: string;
  readonly role: string;
  readonly databaseKind: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const closeMsMax = 3_000;

/**
 * OpenTelemetry spans, exported with OTLP over HTTP. This module is loaded only when an endpoint is configured.
 *
 * The span id of a request is derived from the request id, and so is its trace id unless the caller sent one. Any node can thus
 * compute the span of an event from its request id, even after a restart, and nothing has to be stored.
 */
export class Tracing implements RequestTracing, EngineTracing, DeliveryTracing {
  readonly #provider: TracerProvider;
  readonly #tracer;
  readonly #root: Sampler;
  readonly #current = new AsyncLocalStorage<OtelSpan>();
  readonly #databaseKind: string;
  readonly #random = new RandomIdGenerator();
  /** The ids of the span that is being created. */
  #nextIds: { readonly traceId: string; readonly spanId: string } | undefined;

  constructor({ version, role, databaseKind, env }: TracingSettings) {
    this.#databaseKind = databaseKind === 'pglite' ? 'pglite' : 'postgresql';
    const { root, sampler } = samplersOf(env);
    this.#root = root;
    this.#provider = new TracerProvider({
      sampler,
      resource: defaultResource()
        .merge(resourceFromAttributes({ 'service.name': 'sandbank' }))
        .merge(resourceFromAttributes({ 'service.version': version, 'sandbank.role': role }))
        .merge(detectResources({ detectors: [envDetector] })),
      spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
      idGenerator: {
        generateTraceId: () => this.#nextIds?.traceId ?? this.#random.generateTraceId(),
        generateSpanId: () => this.#nextIds?.spanId ?? this.#random.generateSpanId(),
      },
    });
    this.#tracer = this.#provider.getTracer('sandbank', version);
  }

  request(requestId: string, traceparent: string | undefined): Span {
    const own = idsOfRequest(requestId);
    const caller = parseTraceparent(traceparent);
    const parent = caller ? trace.setSpanContext(ROOT_CONTEXT, caller) : ROOT_CONTEXT;
    // Deliveries use ids derived from the request id; the link leads to them.
    const links: Link[] = caller ? [{ context: { ...own, traceFlags: TraceFlags.SAMPLED } }] : [];
    const span = this.#start(
      'request',
      SpanKind.SERVER,
      parent,
      { 'sandbank.request_id': requestId },
      own,
      links,
    );
    return this.#wrap(span);
  }

  command(name: string, requestId: string): CommandSpan {
    const parent = this.#open();
    const fields = { 'sandbank.command': name, 'sandbank.request_id': requestId };
    // Without a request span the caller is a worker, and the trace begins here.
    const span = parent
      ? this.#start(`command ${name}`, SpanKind.INTERNAL, within(parent), fields)
      : this.#start(`command ${name}`, SpanKind.INTERNAL, ROOT_CONTEXT, fields, idsOfRequest(requestId));
    return new TracedCommand(span);
  }

  async batch<Result>(
    commands: readonly (CommandSpan | undefined)[],
    run: () => PromiseLike<Result>,
  ): Promise<Result> {
    const traced = commands.flatMap((command) => (command instanceof TracedCommand ? [command] : []));
    const [first, ...others] = traced;
    if (!first) return run();
    const links = others.map(({ span }) => ({ context: span.spanContext() }));
    const batch = this.#start(
      'batch',
      SpanKind.INTERNAL,
      within(first.span),
      { 'sandbank.batch_size': commands.length },
      undefined,
      links,
    );
    for (const { span, arrivedAt } of traced) {
      this.#tracer.startSpan('wait', { startTime: arrivedAt }, within(span)).end();
      if (span !== first.span) span.addLink({ context: batch.spanContext() });
    }
    try {
      return await this.#current.run(batch, run);
    } finally {
      batch.end();
    }
  }

  /** Records a statement only inside a recording span, so that polling by workers does not create traces. */
  readonly statements: StatementObserver = (name) => {
    const parent = this.#open();
    if (!parent) return () => undefined;
    const fields = { 'db.system.name': this.#databaseKind, 'db.operation.name': name };
    const span = this.#start(`database ${name}`, SpanKind.CLIENT, within(parent), fields);
    return (failure) => finish(span, {}, failure === undefined ? undefined : problemOf(failure));
  };

  attempt({ requestId, eventType, host, fields }: TracedAttempt): Span {
    const own = idsOfRequest(requestId);
    const isSampled =
      this.#root.shouldSample(ROOT_CONTEXT, own.traceId, 'request', SpanKind.SERVER, {}, []).decision ===
      SamplingDecision.RECORD_AND_SAMPLED;
    const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
    const parent = trace.setSpanContext(ROOT_CONTEXT, { ...own, traceFlags, isRemote: true });
    const known = { 'sandbank.request_id': requestId, 'server.address': host, 'http.request.method': 'POST' };
    return this.#wrap(this.#start(`deliver ${eventType}`, SpanKind.CLIENT, parent, { ...known, ...fields }));
  }

  /** Exports the remaining spans, for at most `closeMsMax`. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, closeMsMax);
    });
    await Promise.race([this.#provider.shutdown().catch(() => undefined), late]);
    clearTimeout(timer);
  }

  /** The current span, unless it has ended: work that a request started may outlive it and then is not part of it. */
  #open(): OtelSpan | undefined {
    const span = this.#current.getStore();
    return span?.isRecording() ? span : undefined;
  }

  #start(
    name: string,
    kind: SpanKind,
    parent: Context,
    attributes: Fields,
    ids?: { readonly traceId: string; readonly spanId: string },
    links: Link[] = [],
  ): OtelSpan {
    this.#nextIds = ids;
    try {
      return this.#tracer.startSpan(name, { kind, attributes: { ...attributes }, links }, parent);
    } finally {
      this.#nextIds = undefined;
    }
  }

  #wrap(span: OtelSpan): Span {
    let isOver = false;
    return {
      traceparent: traceparentOf(span.spanContext()),
      within: (work) => this.#current.run(span, work),
      name: (text) => span.updateName(text),
      end: (fields, problem) => {
        if (isOver) return;
        isOver = true;
        finish(span, fields ?? {}, problem);
      },
    };
  }
}

class TracedCommand implements CommandSpan {
  readonly arrivedAt = Date.now();
  readonly span: OtelSpan;

  constructor(span: OtelSpan) {
    this.span = span;
  }

  end(outcome: string): void {
    const isFault = outcome === 'internal_error' || outcome === 'service_unavailable';
    finish(this.span, { 'sandbank.outcome': outcome }, isFault ? outcome : undefined);
  }
}

function within(span: OtelSpan): Context {
  return trace.setSpan(ROOT_CONTEXT, span);
}

function finish(span: OtelSpan, fields: Fields, problem: string | undefined): void {
  span.setAttributes({ ...fields });
  if (problem !== undefined) {
    span.setAttribute('error.type', problem);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

/** The kind of a failure and never its message: database messages can contain row values. */
function problemOf(failure: unknown): string {
  if (typeof failure === 'object' && failure !== null && 'kind' in failure) return String(failure.kind);
  return failure instanceof Error ? failure.name : 'unknown';
}

/** Reads the standard OpenTelemetry variables. */
function samplersOf(env: TracingSettings['env']): { readonly root: Sampler; readonly sampler: Sampler } {
  const name = env.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on';
  const ratio = Number(env.OTEL_TRACES_SAMPLER_ARG ?? '1');
  const root = name.endsWith('always_off')
    ? new AlwaysOffSampler()
    : name.endsWith('traceidratio')
      ? new TraceIdRatioBasedSampler(ratio)
      : new AlwaysOnSampler();
  return { root, sampler: name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root };
}
