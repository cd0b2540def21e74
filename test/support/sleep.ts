import { setTimeout as wait } from 'node:timers/promises';

/**
 * Waits in real time, to spread load or to play a slow server. Nothing that a test asserts may depend on it: wait for a
 * condition with `until`, or advance the clock of the service.
 */
export const sleep = (ms: number): Promise<void> => wait(ms);
