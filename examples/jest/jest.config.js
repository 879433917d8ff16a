module.exports = {
  // Starts one server for all test files.
  globalSetup: 'sandbank/jest/setup',
  globalTeardown: 'sandbank/jest/teardown',
};
