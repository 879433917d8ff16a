import { startEarly } from './early-start.ts';

/** The program. An embedded server reserves its port and opens its database while the modules of the server are loaded. */
export async function boot(argv: readonly string[]): Promise<void> {
  const early = startEarly(argv);
  const { main } = await import('./main.ts');
  return main(argv, early);
}
