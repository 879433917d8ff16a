import { defineConfig } from 'vitest/config';

export default defineConfig({
  // One server for all test files; each test makes a tenant of its own on it.
  test: { include: ['*.test.js'], globalSetup: ['./sandbank.setup.js'] },
});
