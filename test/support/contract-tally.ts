/** Findings of the contract check in this test file. A separate module, so that files without a server load nothing else. */
export const breaches: string[] = [];

/** `operationId status` of every response to an API key. */
export const met = new Set<string>();

/** `method path` of every successful response of a route that only the console has. */
export const metInConsole = new Set<string>();
