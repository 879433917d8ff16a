// `npm run pack -- FOLDER`: builds, then writes the two packages into FOLDER: `sandbank` and `sandbank-client`.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { npmScript, prepare, root, run } from './prepare.mjs';

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder = '.'] = await prepare(process.argv.slice(2));
  for (const file of await pack(path.resolve(folder))) process.stdout.write(`${file}\n`);
}

/** @param {string} folder @returns {Promise<string[]>} the two files */
export async function pack(folder) {
  fs.mkdirSync(folder, { recursive: true });
  const staged = fs.mkdtempSync(path.join(os.tmpdir(), 'sandbank-client-'));
  try {
    await stageClient(staged);
    return [await packFolder(root, folder), await packFolder(staged, folder)];
  } finally {
    fs.rmSync(staged, { recursive: true, force: true });
  }
}

/** The client package, with the same version. */
async function stageClient(/** @type {string} */ folder) {
  const { rolldown } = await import('rolldown');
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  const source = path.join(root, 'sdk/package');
  const manifest = JSON.parse(fs.readFileSync(path.join(source, 'package.json'), 'utf8'));
  fs.writeFileSync(
    path.join(folder, 'package.json'),
    `${JSON.stringify({ ...manifest, version }, null, 2)}\n`,
  );
  fs.copyFileSync(path.join(source, 'README.md'), path.join(folder, 'README.md'));
  fs.copyFileSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
  for (const format of /** @type {const} */ (['esm', 'cjs'])) {
    const bundle = await rolldown({ input: path.join(root, 'dist/sdk/client.js'), logLevel: 'silent' });
    const file = path.join(folder, format, 'client.js');
    await bundle.write({ file, format, exports: 'named', minify: true });
    await bundle.close();
    copyDeclarations(path.join(root, 'dist/sdk'), 'client.d.ts', path.join(folder, format));
  }
  fs.writeFileSync(path.join(folder, 'cjs/package.json'), '{ "type": "commonjs" }\n');
}

/** A declaration file, and those that it imports. @param {string} from @param {string} name @param {string} to */
function copyDeclarations(from, name, to) {
  const target = path.join(to, name);
  if (fs.existsSync(target)) return;
  const text = fs.readFileSync(path.join(from, name), 'utf8');
  fs.mkdirSync(path.dirname(target), { recursive: true });
  fs.writeFileSync(target, text);
  for (const [, specifier = ''] of text.matchAll(/(?:from|import\() ?['"](\.[^'"]+)\.ts['"]/g))
    copyDeclarations(from, path.join(path.dirname(name), `${specifier}.d.ts`), to);
}

/** @param {string} source @param {string} target @returns {Promise<string>} */
async function packFolder(source, target) {
  const { code, output } = await run(
    [npmScript(), 'pack', source, '--ignore-scripts', '--pack-destination', target, '--json', '--silent'],
    { show: false, directory: target },
  );
  if (code !== 0) throw new Error(`${output}\nThe package could not be packed.`);
  const [{ filename }] = Object.values(JSON.parse(output.slice(output.search(/^[[{]/m))));
  return path.join(target, filename);
}
