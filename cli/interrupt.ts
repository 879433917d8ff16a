/** A signal that is aborted by Ctrl-C or `kill`; a second one exits immediately. */
export function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  const stop = () => {
    if (controller.signal.aborted) process.exit(130);
    controller.abort();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return controller.signal;
}
