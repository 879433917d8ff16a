/**
 * Database failures that the engine handles:
 * - `unavailable`: the database is unreachable, shutting down or timed out. The outcome may be unknown.
 * - `conflict`: another node was faster (unique violation, serialization failure, deadlock). A retry sees its rows.
 * - `busy`: a lock was not granted within the lock timeout.
 * Every other error is our own bug and is rethrown unchanged.
 */
export type FailureKind = 'unavailable' | 'conflict' | 'busy';

export class DatabaseFailure extends Error {
  override readonly name = 'DatabaseFailure';
  readonly kind: FailureKind;
  readonly constraint: string | undefined;

  constructor(kind: FailureKind, cause: unknown, constraint?: string) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.kind = kind;
    this.constraint = constraint;
  }
}

const kindOfState: Readonly<Record<string, FailureKind>> = {
  '40001': 'conflict', // serialization_failure
  '40P01': 'conflict', // deadlock_detected
  '23505': 'conflict', // unique_violation
  '55P03': 'busy', // lock_not_available
  '57014': 'unavailable', // query_canceled, by statement_timeout
  '57P01': 'unavailable', // admin_shutdown
  '57P02': 'unavailable', // crash_shutdown
  '57P03': 'unavailable', // cannot_connect_now
  '25P03': 'unavailable', // idle_in_transaction_session_timeout: this process was suspended, or the network failed
  '25006': 'unavailable', // read_only_sql_transaction: a standby that is not promoted yet
};

/** Classifies an error by its SQLSTATE; without one the connection itself failed. */
export function toFailure(error: unknown): unknown {
  if (error instanceof DatabaseFailure || !(error instanceof Error)) return error;
  const { code, severity, constraint } = error as Error & {
    code?: string;
    severity?: string;
    constraint?: string;
  };
  const isSqlError = severity !== undefined && typeof code === 'string' && code.length === 5;
  if (!isSqlError) return isConnectionError(error, code) ? new DatabaseFailure('unavailable', error) : error;
  const kind =
    kindOfState[code] ?? (code.startsWith('08') || code.startsWith('53') ? 'unavailable' : undefined);
  return kind ? new DatabaseFailure(kind, error, constraint) : error;
}

/**
 * Whether a failure concerns the connection: it is lost, late or leads to a read-only server. When a server cancels a statement
 * or has no resources left, its connections are still usable.
 */
export function isLoss(error: unknown): boolean {
  if (!(error instanceof DatabaseFailure) || error.kind !== 'unavailable') return false;
  const { code, severity } = (error.cause ?? {}) as { code?: unknown; severity?: unknown };
  const state = severity !== undefined && typeof code === 'string' ? code : '';
  return state !== '57014' && !state.startsWith('53');
}

/**
 * A statement that was rejected because an earlier one in the same transaction had failed. When that rejected its preparation, a
 * pipelined second execution has no statement (26000).
 */
export function isAborted(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === '25P02' || code === '26000';
}

// pg reports a lost connection by a system code or, for its own timeouts, only by the message.
const connectionMessage =
  /^(Connection terminated|timeout exceeded|Client has encountered a connection error|Query read timeout|Client was closed|Cannot use a pool after)/;
const systemCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ECONNABORTED',
]);

function isConnectionError(error: Error, code: string | undefined): boolean {
  return (code !== undefined && systemCodes.has(code)) || connectionMessage.test(error.message);
}
