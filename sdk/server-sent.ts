/** One message of a server-sent event stream. */
export interface ServerSentMessage {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
  readonly retryMs: number | undefined;
}

const lineCharactersMax = 4 * 1024 * 1024;

/** Parses server-sent events as the HTML standard defines them. Comments and empty messages are skipped. */
export async function* readServerSent(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerSentMessage, void, undefined> {
  let fields: { event?: string; data?: string[]; id?: string; retryMs?: number } = {};
  for await (const line of linesOf(body)) {
    if (line === '') {
      const { event = 'message', data = [], id, retryMs } = fields;
      fields = {};
      if (data.length > 0 || retryMs !== undefined) yield { event, data: data.join('\n'), id, retryMs };
      continue;
    }
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === 'event') fields.event = value;
    else if (name === 'data') fields.data = [...(fields.data ?? []), value];
    else if (name === 'id' && !value.includes('\0')) fields.id = value;
    else if (name === 'retry' && /^\d+$/.test(value)) fields.retryMs = Number(value);
  }
}

/** Lines end with CR, LF or both, and may be split anywhere. Text after the last line end is incomplete and ignored. */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      // A CR at the end may be the first half of a CRLF.
      const parts = rest.split(/\r\n|\n|\r(?!$)/);
      rest = parts.pop() ?? '';
      if (rest.length > lineCharactersMax)
        throw new Error(`A line of the stream is longer than ${lineCharactersMax} characters.`);
      yield* parts;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
