import { Redis } from 'ioredis';

/** A Redis server that the tests may count in. */
export const REDIS_URL = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379';

/** Why suites that need Redis are left out, or false. In CI a missing server is a failure, not a skip. */
export const noRedis: string | false = await (async () => {
  const redis = new Redis(REDIS_URL, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 2000 });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return false;
  } catch (error) {
    if (process.env.CI) throw error;
    return 'no Redis server (set TEST_REDIS_URL)';
  } finally {
    redis.disconnect();
  }
})();
