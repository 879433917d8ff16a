// Puts the server, with all it uses, into a few files: `node scripts/bundle.mjs DIST`, after the compiler. Finding and reading
// some 1,100 modules one by one was half of the time that a process took to start (1.2 of 2.4 s of a core; in a few files 0.5 s).
import path from 'node:path';
import process from 'node:process';
import { rolldown } from 'rolldown';

const src = path.join(process.argv[2] ?? 'dist', 'src');
/** What is loaded from outside: by the command, by a process that runs the server, by a program that has one inside. */
const entries = ['boot', 'main', 'embedded'];

const bundle = await rolldown({
  input: Object.fromEntries(entries.map((name) => [name, path.join(src, `${name}.js`)])),
  platform: 'node',
  // PGlite reads files that stand beside its own; the others are never installed, and pg asks for them in vain.
  external: [/^@electric-sql\//, 'pg-native', 'pg-cloudflare', /^cloudflare:/],
  logLevel: 'silent',
});
// In the folder of the modules themselves: `src/places.ts` finds the package from where it stands.
await bundle.write({
  dir: src,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'part-[name].js',
});
await bundle.close();
