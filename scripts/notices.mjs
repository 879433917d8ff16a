// The licences of the packages bundled into `dist`, which most of them require to be shipped with the code.
import fs from 'node:fs';
import path from 'node:path';

/** @param {readonly string[]} moduleIds the files of a bundle @returns {string} */
export function thirdPartyNotices(moduleIds) {
  const folders = new Set(moduleIds.flatMap((id) => packageFolder(id) ?? []));
  const notices = new Map(
    [...folders].map((folder) => {
      const { name, version, license } = JSON.parse(
        fs.readFileSync(path.join(folder, 'package.json'), 'utf8'),
      );
      const file = fs.readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
      const text = file === undefined ? '' : fs.readFileSync(path.join(folder, file), 'utf8').trim();
      return [`${name} ${version} (${license})`, text];
    }),
  );
  const sections = [...notices].sort(([a], [b]) => a.localeCompare(b));
  return [
    'The files in this folder contain code of the packages below.',
    ...sections.map(([title, text]) => `${title}\n\n${text}`.trim()),
  ]
    .join(`\n\n${'-'.repeat(80)}\n\n`)
    .concat('\n');
}

/** @param {string} id */
function packageFolder(id) {
  const found = /^(.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+)[/\\]/.exec(id);
  return found?.[1];
}
