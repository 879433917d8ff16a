#!/usr/bin/env node
// The `sandbank` command, in the package and in a checkout. It runs in this process, so that it receives signals.
import { existsSync } from 'node:fs';
import { checkNode } from './node-version.mjs';

let args = process.argv.slice(2);
try {
  checkNode(process.versions.node);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
// A package includes the build; a checkout builds first.
if (existsSync(new URL('../src', import.meta.url))) {
  const { prepare } = await import('./prepare.mjs');
  args = await prepare(args);
}
const { main } = await import('../dist/cli/main.js');
await main(args);
