import { get } from './request.ts';

/**
 * Loads a module of the console. If that fails because the server does not respond, throws the error of a request, which says so:
 * the browser's error says only that the module could not be loaded.
 */
export async function loadModule<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    await get('session');
    throw error;
  }
}
