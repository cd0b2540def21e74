import { createHash } from 'node:crypto';

/**
 * Fields that authorise a call of West.cn (its documentation of API v2): the password goes into a digest only.
 * @param time ms since 1970
 */
export const westToken = (username: string, password: string, time: number) => ({
  username,
  time,
  token: createHash('md5').update(`${username}${password}${time}`).digest('hex'),
});
