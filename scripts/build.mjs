// `npm run build`: installs missing dependencies and updates `dist`. npm also runs it as `prepare`, for a git dependency and before
// packing. It does nothing inside the installation that `prepare.mjs` starts.
if (process.env.SANDBANK_PREPARING === undefined) {
  const { prepare } = await import('./prepare.mjs');
  await prepare(process.argv.slice(2));
  process.stderr.write('dist is up to date.\n');
}
