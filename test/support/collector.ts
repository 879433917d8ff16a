import { openReceiver } from '../support/receiver.ts';

/** An exported span, with its attributes as a record. */
export interface SeenSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly role: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: number;
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface Exported {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<SeenSpan, 'fields' | 'role' | 'status' | 'links'> & {
        readonly attributes: readonly Attribute[];
        readonly links?: SeenSpan['links'];
        readonly status: { readonly code?: number };
      })[];
    }[];
  }[];
}

/** A collector for OTLP over HTTP with JSON. */
export async function openCollector() {
  const receiver = await openReceiver((_received, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
  );
  const bodies = () => receiver.received.filter(({ path }) => path === '/v1/traces').map(({ body }) => body);
  return {
    url: `http://127.0.0.1:${receiver.port}`,
    text: () => bodies().join('\n'),
    spans: (): readonly SeenSpan[] =>
      bodies().flatMap((body) => (JSON.parse(body) as Exported).resourceSpans.flatMap(spansOf)),
    close: () => receiver.close(),
  };
}

function spansOf({ resource, scopeSpans }: Exported['resourceSpans'][number]): readonly SeenSpan[] {
  const role = String(record(resource.attributes)['sandbank.role']);
  return scopeSpans.flatMap(({ spans }) =>
    spans.map(({ attributes, status, links, ...span }) => ({
      ...span,
      role,
      links: links ?? [],
      status: status.code ?? 0,
      fields: record(attributes),
    })),
  );
}

function record(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
