import type { SandbankError } from '../sdk/errors.ts';
import type { Output } from './output.ts';
import { CliProblem, type Exit, exits } from './problem.ts';

/** Says what went wrong, and gives the code that the process ends with. */
export function tellFailure(out: Output, error: unknown): Exit {
  if (error instanceof CliProblem) {
    if (out.isJson)
      out.line(JSON.stringify(errorObject({ code: codeOf(error.exit), message: error.message })));
    out.say(`${out.paintAside.red('Error:')} ${error.message}`);
    return error.exit;
  }
  if (isSandbankError(error)) {
    if (out.isJson) out.line(JSON.stringify(errorAnswer(error)));
    out.say(apiWords(out, error));
    return exitOf(error);
  }
  const { message, syscall, path, stack } = (error ?? {}) as NodeJS.ErrnoException;
  // A file that cannot be read or written is no bug of ours.
  const words =
    syscall !== undefined
      ? `The system refused it: ${message}${path && !message.includes(path) ? ` (${path})` : ''}.`
      : (stack ?? String(error));
  if (out.isJson)
    out.line(JSON.stringify(errorObject({ code: 'command_failed', message: words.split('\n')[0] ?? '' })));
  out.say(`${out.paintAside.red('Error:')} ${words}`);
  return exits.refused;
}

/** By its shape and not by its class: the client is not loaded for commands that do without it. */
export function isSandbankError(error: unknown): error is SandbankError {
  return error instanceof Error && 'code' in error && 'retryable' in error && 'attempts' in error;
}

function exitOf(error: SandbankError): Exit {
  if (error.name === 'ConnectionError' || error.name === 'TimeoutError') return exits.unreachable;
  return error.name === 'AuthenticationError' ? exits.authentication : exits.refused;
}

function apiWords(out: Output, error: SandbankError): string {
  const { code, status, message, param, allowedActions, docUrl, requestId, details } = error;
  const { red, dim } = out.paintAside;
  const lines = [
    `${red('Error:')} ${message} ${dim(`(${[code, status].filter(Boolean).join(', ')})`)}`,
    param === undefined ? '' : `  where    ${param}`,
    allowedActions === undefined ? '' : `  allowed  ${allowedActions.join(', ') || 'nothing'}`,
    details === undefined || Object.keys(details).length === 0 ? '' : `  details  ${JSON.stringify(details)}`,
    requestId === undefined ? '' : `  request  ${requestId}`,
    docUrl === undefined ? '' : `  more     ${docUrl}`,
  ];
  return lines.filter((line) => line !== '').join('\n');
}

/** An error in the shape of an API error response. */
export function errorAnswer(error: SandbankError): object {
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
