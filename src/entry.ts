// The exports of the bundle. Each loads its part of the program when it is called.

/**
 * Starts the service. Resolves with the address of the console when it listens; after a failed start the process exits.
 */
export const startService = (): Promise<string> => import('./main.js').then(({ started }) => started);

/** Runs the command of the administration that process.argv names, from the third word on. */
export const runAdmin = (): Promise<void> => import('./admin.js').then(({ finished }) => finished);
