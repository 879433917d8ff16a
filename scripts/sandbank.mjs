#!/usr/bin/env node
// The `sandbank` command: prepares the checkout, then runs the command in this same process, so that signals reach it.
import { prepare } from './prepare.mjs';

const args = await prepare(process.argv.slice(2));
const { main } = await import('../dist/cli/main.js');
await main(args);
