import { spawn } from 'node:child_process';
import { once } from 'node:events';

type Env = Readonly<Record<string, string | undefined>>;

/** The command that opens a URL in the browser of this machine; undefined without a display. */
export function browserCommand(
  url: string,
  env: Env,
  platform: NodeJS.Platform = process.platform,
): readonly [program: string, ...args: string[]] | undefined {
  if (env.CI || (env.SSH_CONNECTION && !env.DISPLAY)) return undefined;
  if (platform === 'darwin') return ['open', url];
  // "start" is part of cmd, which would interpret the characters of the URL.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', url];
  return env.DISPLAY || env.WAYLAND_DISPLAY || env.WSL_DISTRO_NAME ? ['xdg-open', url] : undefined;
}

/** Starts the browser and does not wait for it. Returns false when it cannot be started. */
export async function openBrowser(url: string, env: Env): Promise<boolean> {
  const command = browserCommand(url, env);
  if (command === undefined) return false;
  const [program, ...args] = command;
  const child = spawn(program, args, { stdio: 'ignore', detached: true, env: { ...env } });
  try {
    await once(child, 'spawn');
  } catch {
    return false;
  }
  child.unref();
  return true;
}
