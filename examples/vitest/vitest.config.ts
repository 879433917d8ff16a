import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Starts one server for all test files.
  test: { globalSetup: ['sandbank/vitest/setup'] },
});
