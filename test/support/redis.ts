/** A Redis server that tests may write to. */
export const REDIS_URL = process.env.TEST_REDIS_URL as string;

/** Why suites that need Redis are skipped, or undefined. */
export const noRedis: string | undefined = process.env.TEST_NO_REDIS;
