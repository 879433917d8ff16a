// `npm run build`: installs what is missing and brings `dist` up to date. npm runs it too, as `prepare`: for a git dependency and before
// it packs. It does not run inside of the installation that `prepare.mjs` itself has begun.
if (process.env.SANDBANK_PREPARING === undefined) {
  const { prepare } = await import('./prepare.mjs');
  await prepare(process.argv.slice(2));
  process.stderr.write('dist is up to date.\n');
}
