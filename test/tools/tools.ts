import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const folder = new URL('./', import.meta.url);
const run = promisify(execFile);
const outputMax = 50_000_000;

/** Installs the tools of package.json, unless they are installed. */
export async function installTools(): Promise<void> {
  if (existsSync(new URL('node_modules/.package-lock.json', folder))) return;
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    maxBuffer: outputMax,
  });
}

/** Runs the command of an installed tool and returns its output. A failed command rejects with its output. */
export async function runTool(name: string, args: readonly string[], cwd: string): Promise<string> {
  const command = fileURLToPath(new URL(`node_modules/.bin/${name}`, folder));
  return runNode([command, ...args], cwd);
}

export async function runNode(args: readonly string[], cwd: string): Promise<string> {
  try {
    const { stdout } = await run(process.execPath, args, { cwd, maxBuffer: outputMax });
    return stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`${args.join(' ')} failed:\n${stdout}\n${stderr}`);
  }
}

/** Where the tools are installed: a project that links to it can import their packages. */
export const modules = fileURLToPath(new URL('node_modules', folder));
