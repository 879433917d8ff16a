/**
 * The messages between the pool and the worker thread that owns the embedded database. PGlite has a single session, so nothing in the
 * PostgreSQL protocol itself says which connection an answer belongs to. Every message therefore names its stream and its number.
 */
export type WorkerRequest =
  /** Hands the session over to a new stream, after everything requested before has ended. */
  | { readonly kind: 'attach'; readonly stream: number }
  | {
      readonly kind: 'execute';
      readonly stream: number;
      /** Counts the requests of a stream. */
      readonly number: number;
      readonly bytes: Uint8Array;
    }
  | { readonly kind: 'close' };

export type WorkerAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string }
  /** The session is idle, without a transaction, settings or prepared statements, and belongs to this stream. */
  | { readonly kind: 'attached'; readonly stream: number }
  | {
      readonly kind: 'executed';
      readonly stream: number;
      /** The last request that this answers. It answers all requests after the one that the previous answer named. */
      readonly number: number;
      readonly bytes: Uint8Array;
    }
  /** The session belongs to a newer stream; the request was not executed. */
  | { readonly kind: 'detached'; readonly stream: number }
  /** The session could not be cleaned. The worker serves nothing after this. */
  | { readonly kind: 'broken'; readonly message: string }
  | { readonly kind: 'closed' };

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const headerLength = 5;

/** Ends an extended query that was left unfinished. Its answer proves nothing: a transaction may still be open. */
export const syncMessage = new Uint8Array([code('S'), 0, 0, 0, 4]);

/** One message each, because DISCARD ALL refuses to run together with other statements. */
export const cleaningMessages: readonly Uint8Array[] = [
  queryMessage('rollback'),
  queryMessage('discard all'),
];

/** Asks whether the write-ahead log has grown by 64 MB since the last checkpoint. */
export const growthMessage = queryMessage(
  'select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn) > 67108864 from pg_control_checkpoint()',
);
export const checkpointMessage = queryMessage('checkpoint');

/** Whether an answer contains one row with the value true. */
export function isTrue(answer: Uint8Array): boolean {
  for (const { type, body } of messagesOf(answer)) if (type === 'D') return body.at(-1) === code('t');
  return false;
}

/** Whether the last message of an answer reports a session without a transaction. */
export function endsIdle(answer: Uint8Array): boolean {
  return answer.at(-6) === code('Z') && answer.at(-1) === code('I');
}

/** Why an answer to one of the cleaning messages does not prove that the session is idle; undefined when it does. */
export function cleaningProblem(answer: Uint8Array): string | undefined {
  let status: string | undefined;
  for (const { type, body } of messagesOf(answer)) {
    if (type === 'E') return decoder.decode(body).replaceAll('\0', ' ').trim();
    status = type === 'Z' ? String.fromCharCode(body[0] ?? 0) : undefined;
  }
  return status === 'I' ? undefined : `the session reports status ${status ?? 'none'} instead of idle`;
}

function* messagesOf(bytes: Uint8Array): Generator<{ readonly type: string; readonly body: Uint8Array }> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + headerLength <= bytes.byteLength; ) {
    const end = at + 1 + view.getUint32(at + 1);
    yield { type: String.fromCharCode(view.getUint8(at)), body: bytes.subarray(at + headerLength, end) };
    at = end;
  }
}

function queryMessage(sql: string): Uint8Array {
  const text = encoder.encode(`${sql}\0`);
  const message = new Uint8Array(headerLength + text.length);
  message[0] = code('Q');
  new DataView(message.buffer).setUint32(1, 4 + text.length);
  message.set(text, headerLength);
  return message;
}

function code(letter: string): number {
  return letter.charCodeAt(0);
}
