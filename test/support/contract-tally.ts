/** What the contract check has seen in this test file. It stands apart so that files without a server load nothing else. */
export const breaches: string[] = [];

/** `operationId status` of every answer to a key. */
export const met = new Set<string>();
