/** One message of a stream of server-sent events. */
export interface ServerSentMessage {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
  readonly retryMs: number | undefined;
}

const lineCharactersMax = 4 * 1024 * 1024;

/** Reads a stream of server-sent events by the text of the HTML standard. Comments and empty messages are left out. */
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

/** Lines end with CR, LF or both, and may be cut anywhere. What stands behind the last line end is no message yet. */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      // A CR at the very end may be the first half of a line end.
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
