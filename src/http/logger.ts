import type { FastifyServerOptions } from 'fastify';
import { redactLine } from '../resources/requests/redact.ts';

const messageLengthMax = 2_000;
const stackLengthMax = 8_000;

/**
 * One JSON object a line, with the level as a word and the time as everybody writes it. An error is told by its kind, its words
 * and where it happened, without what drivers hang on to it: the details of PostgreSQL repeat the values of a row.
 */
export function loggerOptions(level: string): NonNullable<FastifyServerOptions['logger']> {
  if (level === 'silent') return false;
  return {
    level,
    redact: ['req.headers.authorization'],
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: shownError },
  };
}

function shownError(error: Error & { code?: unknown }): Readonly<Record<string, unknown>> & {
  type: string;
  message: string;
  stack: string;
} {
  const cause = error.cause instanceof Error ? { cause: shownError(error.cause) } : {};
  return {
    type: error.name,
    message: redactLine(error.message, messageLengthMax),
    ...(typeof error.code === 'string' ? { code: error.code } : {}),
    stack: redactLine(error.stack ?? '', stackLengthMax),
    ...cause,
  };
}
