/**
 * The yardstick of reads: a `node:http` server that answers every request with the same bytes, the least that HTTP costs on this
 * machine. Runs as a separate process: `node --import tsx bench/bare.ts FILE`, where FILE contains the response body.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const file = process.argv[2];
if (file === undefined) throw new Error('Usage: bare.ts FILE');
const body = readFileSync(file);
const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length };

const server = createServer((_request, response) => {
  response.writeHead(200, headers);
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});

// stdin is connected to the bench: exit when it closes.
process.stdin.resume().on('close', () => process.exit(0));
