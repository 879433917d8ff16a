import type { FastifyServerOptions } from 'fastify';
import { redactLine } from '../resources/requests/redact.ts';

const messageLengthMax = 2_000;
const stackLengthMax = 8_000;

/**
 * Logs one JSON object per line, with the level as text and the time in ISO 8601. An error has its type, message and stack, without
 * the properties that drivers add: PostgreSQL error details contain row values.
 */
export function loggerOptions(level: string): NonNullable<FastifyServerOptions['logger']> {
  if (level === 'silent') return false;
  return {
    level,
    redact: ['req.headers.authorization'],
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: serializeError },
  };
}

function serializeError(error: Error & { code?: unknown }): Readonly<Record<string, unknown>> & {
  type: string;
  message: string;
  stack: string;
} {
  const cause = error.cause instanceof Error ? { cause: serializeError(error.cause) } : {};
  return {
    type: error.name,
    message: redactLine(error.message, messageLengthMax),
    ...(typeof error.code === 'string' ? { code: error.code } : {}),
    stack: redactLine(error.stack ?? '', stackLengthMax),
    ...cause,
  };
}
