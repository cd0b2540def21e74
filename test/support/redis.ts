/** A Redis server that the tests may count in. */
export const REDIS_URL = process.env.TEST_REDIS_URL as string;

/** Why suites that need Redis are left out, or undefined. */
export const noRedis: string | undefined = process.env.TEST_NO_REDIS;
