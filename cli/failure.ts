import type { SandbankError } from '../sdk/errors.ts';
import type { Output } from './output.ts';
import { CliProblem, type Exit, exits } from './problem.ts';

/** Reports a failure on stderr, with `--json` also on stdout, and returns the exit code. */
export function reportFailure(out: Output, error: unknown): Exit {
  if (error instanceof CliProblem)
    return report(out, { code: codeOf(error.exit), message: error.message }, error.exit);
  if (isSandbankError(error)) {
    if (out.isJson) out.line(JSON.stringify(errorResponse(error)));
    out.say(apiMessage(out, error));
    return exitOf(error);
  }
  const { message, syscall, path, stack } = (error ?? {}) as NodeJS.ErrnoException;
  // A file that cannot be read or written is not a bug: no stack trace.
  const isSystem = syscall !== undefined;
  const where = path && !message.includes(path) ? ` (${path})` : '';
  const text = isSystem ? `${message}${where}.` : (stack ?? String(error));
  return report(out, { code: 'command_failed', message: text }, exits.refused);
}

function report(out: Output, { code, message }: { code: string; message: string }, exit: Exit): Exit {
  if (out.isJson) out.line(JSON.stringify(errorObject({ code, message: message.split('\n')[0] })));
  out.say(`${out.paintAside.red('Error:')} ${message}`);
  return exit;
}

/** Checked by shape: importing the class would load the client for every command. */
export function isSandbankError(error: unknown): error is SandbankError {
  return error instanceof Error && 'code' in error && 'retryable' in error && 'attempts' in error;
}

function exitOf(error: SandbankError): Exit {
  if (error.name === 'ConnectionError' || error.name === 'TimeoutError') return exits.unreachable;
  return error.name === 'AuthenticationError' ? exits.authentication : exits.refused;
}

function apiMessage(out: Output, error: SandbankError): string {
  const { code, status, message, param, allowedActions, docUrl, requestId } = error;
  const { errors, ...details } = error.details ?? {};
  const { red, dim } = out.paintAside;
  const lines = [
    `${red('Error:')} ${message} ${dim(`(${[code, status].filter(Boolean).join(', ')})`)}`,
    ...furtherMessages(errors).map((further) => `  also     ${further}`),
    param === undefined ? '' : `  where    ${param}`,
    allowedActions === undefined ? '' : `  allowed  ${allowedActions.join(', ') || 'none'}`,
    Object.keys(details).length === 0 ? '' : `  details  ${JSON.stringify(details)}`,
    requestId === undefined ? '' : `  request  ${requestId}`,
    docUrl === undefined ? '' : `  docs     ${docUrl}`,
  ];
  return lines.filter((line) => line !== '').join('\n');
}

/** A rejected request lists all its problems (at most 20) in `details.errors`. The first is the message of the error. */
function furtherMessages(errors: unknown): readonly string[] {
  if (!Array.isArray(errors)) return [];
  return errors.slice(1).flatMap(({ message }: { readonly message?: string }) => message ?? []);
}

/** An error in the shape of an API error response; errors of the command line have the same. */
export function errorResponse(error: SandbankError): object {
  const { code, message, param, details, allowedActions, retryable, docUrl, requestId } = error;
  return { ...errorObject({ code, message, param, details, allowedActions, retryable, docUrl }), requestId };
}

function errorObject(error: Readonly<Record<string, unknown>>): object {
  return { object: 'error', sandbox: true, status: 'error', error };
}

function codeOf(exit: Exit): string {
  if (exit === exits.usage) return 'wrong_usage';
  return exit === exits.authentication ? 'credentials_missing' : 'command_failed';
}
