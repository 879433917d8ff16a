import { get } from './request.ts';

/**
 * Loads a module of the console. If that fails while the server does not respond, throws the error of a request, which says so: browsers
 * report only that a module was not loaded.
 */
export async function loadModule<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    await get('session');
    throw error;
  }
}
