const checkMs = 500;

/**
 * npm does not pass signals on to the whole chain of processes: `npm start & ... kill $!` ends npm and its shell and leaves the server,
 * with its port and its data directory. Under npm the server therefore stops when its parent process has ended.
 */
export function onNpmEnd(env: Readonly<Record<string, string | undefined>>, stop: () => void): void {
  if (!isRunByNpm(env)) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    stop();
  }, checkMs);
  timer.unref();
}

/** A script that starts the server in the background with `&` wants it to outlive the shell. */
export function isRunByNpm({
  npm_lifecycle_script: script,
}: Readonly<Record<string, string | undefined>>): boolean {
  return script !== undefined && /\bsandbank\b/.test(script) && !/(^|[^&])&([^&]|$)/.test(script);
}
