/**
 * Builds and runs the image of a Dockerfile without a container engine. Each stage is an overlay over the root file system of this machine,
 * whose Node, npm and shell replace those of the base image. Commands run in it with `chroot`, in separate mount and PID
 * namespaces. Only root on Linux can do that.
 */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { watchProcess } from '../../support/failure-report.ts';
import type { Stage, Step } from './dockerfile.ts';

const execute = promisify(execFile);
const namespaces = ['--mount', '--pid', '--fork', '--kill-child'];
type Variables = Readonly<Record<string, string>>;

/** The environment of a Node base image, with the Node that runs the tests. */
export const baseEnv: Variables = {
  PATH: `${path.dirname(process.execPath)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
};

interface Command {
  readonly argv: readonly string[];
  readonly env: Variables;
  readonly directory: string;
  /** `UID:GID` */
  readonly user: string;
}

interface Mounts {
  readonly volumes: readonly (readonly [from: string, to: string])[];
  readonly isReadOnly: boolean;
}

/** Whether this machine can mount overlays and enter namespaces. */
export function canRunImages(): boolean {
  const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-overlay-'));
  const command = { argv: ['true'], env: baseEnv, directory: '/', user: '1000:1000' };
  const { status } = spawnSync('unshare', unshareArgs(newLayer(folder), command));
  rmSync(folder, { recursive: true, force: true });
  return status === 0 && spawnSync('nsenter', ['--version']).status === 0;
}

/** A folder for the files that a stage writes on top of its base image. */
function newLayer(folder: string): string {
  for (const name of ['upper', 'work', 'root']) mkdirSync(path.join(folder, name), { recursive: true });
  return folder;
}

const fileOf = (layer: string, name: string) => path.join(layer, 'upper', name);

function unshareArgs(
  layer: string,
  { argv, env, directory, user }: Command,
  { volumes, isReadOnly }: Mounts = { volumes: [], isReadOnly: false },
): string[] {
  const [upper, work, root] = ['upper', 'work', 'root'].map((name) => path.join(layer, name));
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const script = [
    'set -e',
    `mount -t overlay overlay -o lowerdir=/,upperdir=${upper},workdir=${work} ${root}`,
    `mount --rbind /dev ${root}/dev`,
    `mount -t proc proc ${root}/proc`,
    ...volumes.map(([from, to]) => `mkdir -p ${root}${to} && mount --bind ${from} ${root}${to}`),
    ...(isReadOnly ? [`mount -o remount,bind,ro ${root}`] : []),
    `exec chroot --userspec=${user} ${root} env -i --chdir=${directory} "$@"`,
  ].join('\n');
  return [...namespaces, 'sh', '-c', script, 'sh', ...variables, ...argv];
}

export interface BuildOptions {
  /** The files of the build context, after .dockerignore. */
  readonly context: string;
  readonly folder: string;
  /** Variables for `RUN` only, such as the npm settings of this machine. */
  readonly env: Variables;
  /** A folder of this machine that `RUN` sees at its own path. */
  readonly shared: string;
  /** May do the work of a `RUN` command in another way: it then returns true. */
  readonly replaceRun: (command: string, directory: string) => boolean;
}

export interface Image {
  readonly layer: string;
  readonly env: Variables;
  readonly directory: string;
  readonly user: string;
  readonly volumes: readonly string[];
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
  readonly stopSignal: NodeJS.Signals;
  /** The output of the `RUN` commands. */
  readonly output: string;
}

/** Performs the instructions of all stages, and returns the image of the last one. */
export async function buildImage(stages: readonly Stage[], options: BuildOptions): Promise<Image> {
  const images = new Map<string | undefined, Image>();
  for (const stage of stages) images.set(stage.name, await buildStage(stage, images, options));
  const image = images.get(undefined);
  if (image === undefined) throw new Error('The last stage must not have a name.');
  return image;
}

async function buildStage(
  { name, steps, env }: Stage,
  images: ReadonlyMap<string | undefined, Image>,
  options: BuildOptions,
): Promise<Image> {
  const layer = newLayer(path.join(options.folder, name ?? 'final'));
  const found = (keyword: string) => steps.filter((step) => step.keyword === keyword);
  const last = (keyword: string) => found(keyword).at(-1)?.args ?? [];
  let [directory, user, output] = ['/', '0:0', [...images.values()].map((one) => one.output).join('')];
  for (const step of steps) {
    const { keyword, args, text } = step;
    if (keyword === 'WORKDIR') {
      directory = path.resolve(directory, args[0] ?? '');
      mkdirSync(fileOf(layer, directory), { recursive: true });
    } else if (keyword === 'USER') user = args[0] ?? '';
    else if (keyword === 'COPY') {
      const from = step.flags.from;
      copy(
        step,
        from === undefined ? options.context : fileOf(images.get(from)?.layer ?? '', '/'),
        layer,
        directory,
      );
    } else if (keyword === 'RUN' && !options.replaceRun(text, fileOf(layer, directory))) {
      const command = { argv: ['sh', '-c', text], env: { ...options.env, ...env }, directory, user };
      const volumes = [[options.shared, options.shared]] as const;
      const printed = await execute('unshare', unshareArgs(layer, command, { volumes, isReadOnly: false }));
      output += printed.stdout + printed.stderr;
    }
  }
  return {
    ...{ layer, env, directory, user, output },
    volumes: found('VOLUME').flatMap(({ args }) => args),
    entrypoint: last('ENTRYPOINT'),
    command: last('CMD'),
    healthcheck: JSON.parse(
      found('HEALTHCHECK')
        .at(-1)
        ?.text.replace(/^.*?CMD /, '') ?? '[]',
    ) as string[],
    stopSignal: (last('STOPSIGNAL')[0] ?? 'SIGTERM') as NodeJS.Signals,
  };
}

/** A folder is copied by its content; a file keeps its name where the target is a folder. */
function copy({ args }: Step, from: string, layer: string, directory: string): void {
  const target = args.at(-1) ?? '';
  const to = fileOf(layer, path.resolve(directory, target));
  for (const source of args.slice(0, -1).map((source) => path.join(from, source))) {
    const isInto = !statSync(source).isDirectory() && /(^|\/)\.?$/.test(target);
    const options = { recursive: true, verbatimSymlinks: true };
    cpSync(source, isInto ? path.join(to, path.basename(source)) : to, options);
  }
}

export interface RunOptions {
  /** A folder for each volume of the image, with the content that the image has there. */
  readonly volumes: string;
  readonly args?: readonly string[];
  readonly env?: Variables;
}

export interface Container {
  /** Runs a command as `docker exec` does, and returns its exit code. */
  exec(argv: readonly string[]): Promise<number>;
  /** Sends the stop signal to PID 1, and returns its exit code. */
  stop(): Promise<number>;
  kill(): void;
  logs(): string;
  /** Waits for a text in the output. */
  waitFor(text: string): Promise<void>;
}

/** Starts the image with a read-only root file system. */
export function runImage(image: Image, { volumes, args, env = {} }: RunOptions): Container {
  const mounts = image.volumes.map((to) => [path.join(volumes, to), to] as const);
  // As Docker does: a new volume begins with the content and the owner that the image has there.
  for (const [from, to] of mounts)
    spawnSync('cp', ['--archive', '--no-target-directory', fileOf(image.layer, to), newVolume(from)]);
  const { directory, user } = image;
  const command = {
    argv: [...image.entrypoint, ...(args ?? image.command)],
    ...{ env: { ...image.env, ...env }, directory, user },
  };
  const child = spawn('unshare', unshareArgs(image.layer, command, { volumes: mounts, isReadOnly: true }), {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let logs = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      logs += text;
      child.emit('output');
    });
  watchProcess({ name: command.argv.join(' '), child, logs: () => logs });
  const ended = once(child, 'close').then(([code]) => Number(code ?? 1));
  return {
    logs: () => logs,
    kill: () => void child.kill('SIGKILL'),
    async waitFor(text) {
      while (!logs.includes(text)) {
        const code = await Promise.race([once(child, 'output'), ended]);
        if (typeof code === 'number') throw new Error(`The container exited with ${code}:\n${logs}`);
      }
    },
    async exec(argv) {
      const [uid = '', gid = ''] = user.split(':');
      const variables = Object.entries(command.env).map(([name, value]) => `${name}=${value}`);
      const entered = spawn('nsenter', [
        ...['--target', String(initOf(child)), '--mount', '--pid', '--root', '--wd'],
        ...['--setuid', uid, '--setgid', gid, 'env', '-i', ...variables, ...argv],
      ]);
      const [code] = (await once(entered, 'close')) as [number | null];
      return code ?? 1;
    },
    stop() {
      process.kill(initOf(child), image.stopSignal);
      return ended;
    },
  };
}

function newVolume(folder: string): string {
  mkdirSync(path.dirname(folder), { recursive: true });
  return folder;
}

/** PID 1 of the namespace, by its number here. */
function initOf({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
}
