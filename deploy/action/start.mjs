// The GitHub action (action.yml): installs Sandbank, starts it for the rest of the job and waits until it is ready. It runs before
// anything is installed, so it imports only Node modules. The runner ends the server with the job.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';

const timeoutSecondsMax = 600;
const logBytesMax = 100_000;

/** A failure that the user of the action can fix: one sentence, without a stack trace. */
class ActionProblem extends Error {}

/** @param {string} name */
const input = (name) => process.env[`INPUT_${name}`]?.trim() ?? '';

async function main() {
  const timeoutMs = timeoutOf(input('TIMEOUT')) * 1_000;
  const folder = fs.mkdtempSync(path.join(process.env.RUNNER_TEMP || os.tmpdir(), 'sandbank-'));
  const log = path.join(folder, 'server.log');
  const binary = await install(folder, packageOf(input('VERSION')));
  const { url, apiKey, operatorToken } = await start(binary, folder, log, timeoutMs);
  for (const secret of [apiKey, operatorToken]) if (secret) command('add-mask', secret);
  write('GITHUB_OUTPUT', { url, 'api-key': apiKey ?? '', 'operator-token': operatorToken, log });
  write('GITHUB_ENV', { SANDBANK_URL: url, ...(apiKey ? { SANDBANK_API_KEY: apiKey } : {}) });
  console.log(`Sandbank is ready at ${url}`);
}

/** @param {string} text */
function timeoutOf(text) {
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (seconds < 1 || seconds > timeoutSecondsMax)
    throw new ActionProblem(
      `timeout must be a number of seconds from 1 to ${timeoutSecondsMax}, not "${text}".`,
    );
  return seconds;
}

/** The npm package specifier: a version or tag of the package, or a tarball. @param {string} version */
function packageOf(version) {
  // npm is a batch file on Windows and needs a shell there, so nothing that a shell interprets may reach it.
  if (/[\s"'`$&|;<>()%!^]/.test(version))
    throw new ActionProblem(
      `version must be an npm version, a tag, or the path or URL of a tarball, not "${version}".`,
    );
  if (/[/\\]|\.tgz$/.test(version)) return version;
  const manifest = new URL('../../package.json', import.meta.url);
  return `sandbank@${version || JSON.parse(fs.readFileSync(manifest, 'utf8')).version}`;
}

/** Installs the package and returns its program. @param {string} folder @param {string} name */
async function install(folder, name) {
  const args = ['install', '--prefix', folder, '--no-save', '--omit=dev', '--no-audit', '--no-fund', name];
  const npm = spawn('npm', args, { stdio: 'inherit', shell: process.platform === 'win32' });
  const [code] = await once(npm, 'close');
  if (code !== 0) throw new ActionProblem(`npm could not install ${name}. See its output above.`);
  const installed = path.join(folder, 'node_modules', 'sandbank');
  const { bin } = JSON.parse(fs.readFileSync(path.join(installed, 'package.json'), 'utf8'));
  return path.join(installed, bin.sandbank);
}

/**
 * Starts the server detached from this step, and returns its connection file.
 * @param {string} binary @param {string} folder @param {string} log @param {number} timeoutMs
 * @returns {Promise<{ url: string, apiKey?: string, operatorToken: string }>}
 */
async function start(binary, folder, log, timeoutMs) {
  const file = path.join(folder, 'connection.json');
  const seed = input('SEED');
  const args = [
    ...['start', '--port', input('PORT'), '--data', input('DATA_DIR')],
    ...(seed === '' ? [] : ['--seed', seed]),
    ...input('ARGS').split(/\s+/).filter(Boolean),
  ];
  // These variables of a job configure the tested project: its own database, and the address that it listens on.
  const { DATABASE_URL, HOST, ...env } = process.env;
  const output = fs.openSync(log, 'w');
  const server = spawn(process.execPath, [binary, ...args], {
    detached: true,
    env: { ...env, SANDBANK_CONNECTION_FILE: file },
    stdio: ['ignore', output, output],
  });
  fs.closeSync(output);
  const stopWaiting = new AbortController();
  const signal = AbortSignal.any([stopWaiting.signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const ended = once(server, 'exit', { signal: stopWaiting.signal }).then(([code]) => {
      throw new ActionProblem(`Sandbank did not start: it exited with code ${code}. See its log above.`);
    });
    await Promise.race([appearance(file, signal), ended]);
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    server.kill();
    printLog(log);
    if (!(error instanceof Error) || error.name !== 'TimeoutError') throw error;
    throw new ActionProblem(`Sandbank was not ready after ${timeoutMs / 1_000} seconds. See its log above.`);
  } finally {
    stopWaiting.abort();
    server.unref();
  }
}

/**
 * The server renames the connection file into place when it accepts requests.
 * @param {string} file @param {AbortSignal} signal @returns {Promise<void>}
 */
function appearance(file, signal) {
  return new Promise((resolve, reject) => {
    const check = () => fs.existsSync(file) && resolve();
    fs.watch(path.dirname(file), { signal }, check).once('error', reject);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    check();
  });
}

/** The server output may contain text in the form of workflow commands, which the runner must not execute. @param {string} log */
function printLog(log) {
  const token = `log-${process.pid}-${Date.now()}`;
  command('group', 'Sandbank log');
  command('stop-commands', token);
  console.log(fs.readFileSync(log, 'utf8').slice(-logBytesMax));
  command(token, '');
  command('endgroup', '');
}

/** A workflow command: https://docs.github.com/actions/reference/workflow-commands. @param {string} name @param {string} text */
function command(name, text) {
  const data = text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  console.log(`::${name}::${data}`);
}

/** @param {'GITHUB_OUTPUT' | 'GITHUB_ENV'} variable @param {Record<string, string>} values */
function write(variable, values) {
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}\n`);
  fs.appendFileSync(process.env[variable] ?? '', lines.join(''));
}

try {
  await main();
} catch (error) {
  if (!(error instanceof ActionProblem)) throw error;
  command('error', error.message);
  process.exitCode = 1;
}
