/**
 * Loaded into a server process by `NODE_OPTIONS=--import`, in the main thread and in the thread of the embedded database. It ends the
 * process with SIGKILL at a named point. It hooks Node itself and nothing of Sandbank, so the server under test is the built one.
 *
 * A test arms a point by writing JSON to stdin: {"point": "response", "countdown": 3} kills at the third response. CRASH_AT in the environment
 * arms a point from the start.
 */
import diagnostics from 'node:diagnostics_channel';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { BroadcastChannel, isMainThread, Worker } from 'node:worker_threads';

let armed = parse(process.env.CRASH_AT);

function parse(text) {
  return text ? JSON.parse(text) : undefined;
}

function reach(point, before = () => undefined) {
  if (armed?.point !== point) return;
  armed.countdown -= 1;
  if (armed.countdown > 0) return;
  before();
  process.kill(process.pid, 'SIGKILL');
}

const channel = new BroadcastChannel('crash points');
channel.unref();
if (isMainThread) {
  process.stdin.on('data', (bytes) => {
    armed = parse(bytes.toString());
    channel.postMessage(armed);
  });
  hookResponses();
  hookQueries();
  hookDeliveries();
} else {
  channel.onmessage = ({ data }) => {
    armed = data;
  };
  hookWalWrites();
}

/** `response`: a write is committed, and its response is not sent. */
function hookResponses() {
  const { writeHead } = http.ServerResponse.prototype;
  http.ServerResponse.prototype.writeHead = function (status, ...others) {
    if (this.req.method === 'POST' && status < 300) reach('response');
    return writeHead.call(this, status, ...others);
  };
}

/** `query`: any query has just been sent to the database. `commit`: a transaction is open, and its commit is not sent. */
function hookQueries() {
  // A simple query: its type, its length in four bytes, and the text. It may follow other messages.
  const commit = Buffer.from('Q\0\0\0\x0bcommit\0', 'latin1');
  const databasePort = process.env.DATABASE_URL && Number(new URL(process.env.DATABASE_URL).port);
  const sends = (bytes, send) => {
    if (bytes.includes(commit)) reach('commit');
    const sent = send();
    reach('query');
    return sent;
  };
  const { write } = net.Socket.prototype;
  net.Socket.prototype.write = function (chunk, ...others) {
    const send = () => write.call(this, chunk, ...others);
    return databasePort && this.remotePort === databasePort && Buffer.isBuffer(chunk)
      ? sends(chunk, send)
      : send();
  };
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (message, ...others) {
    const send = () => postMessage.call(this, message, ...others);
    return message.kind === 'execute' ? sends(Buffer.from(message.bytes), send) : send();
  };
}

/** `claim`: a delivery is claimed, and its request is not sent. `outcome`: the receiver has answered, and that is not stored. */
function hookDeliveries() {
  diagnostics.subscribe('undici:request:create', () => reach('claim'));
  diagnostics.subscribe('undici:request:headers', () => reach('outcome'));
}

/** `wal`: half of a write to the write-ahead log of the embedded database has reached its file. */
function hookWalWrites() {
  const { openSync, writeSync } = fs;
  const logs = new Set();
  fs.openSync = (path, ...others) => {
    const file = openSync(path, ...others);
    if (String(path).includes('pg_wal')) logs.add(file);
    else logs.delete(file);
    return file;
  };
  fs.writeSync = (file, buffer, offset, length, position) => {
    const half = () => writeSync(file, buffer, offset, Math.floor(length / 2), position);
    if (logs.has(file)) reach('wal', half);
    return writeSync(file, buffer, offset, length, position);
  };
}
