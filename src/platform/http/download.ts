import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { downloads } from '../common/downloads.js';
import type { Logger } from '../common/logger.js';

/** A file that is made while it is sent. */
export interface Download {
  contentType: string;
  fileName: string;
  /** The entity tag of its content, where it has one. */
  tag?: string;
  pieces: AsyncGenerator<string>;
}

/**
 * Streams a file, as fast as the client reads. A failure before the first piece is answered as usual; a later one
 * closes the connection, so that nobody takes a part for the whole. 304 without it where the client names its tag.
 * @param user the caller, who has few of the places that all share. @throws AppError 429001
 */
export async function sendDownload(
  user: number,
  response: Response,
  { contentType, fileName, tag, pieces }: Download,
  logger: Logger,
): Promise<void> {
  if (tag !== undefined) response.setHeader('ETag', tag);
  if (response.req.fresh) {
    response.status(304).end();
    return;
  }
  // an error is not what the tag names
  response.removeHeader('ETag');
  const leave = downloads.takeOrRefuse({ user });
  try {
    const first = await pieces.next();
    if (tag !== undefined) response.setHeader('ETag', tag);
    response.setHeader('Content-Type', contentType);
    response.setHeader('Content-Disposition', `attachment; filename="${fileName}"`);
    async function* all(): AsyncGenerator<string> {
      if (!first.done) yield first.value;
      yield* pieces;
    }
    await pipeline(Readable.from(all(), { highWaterMark: 1 }), response).catch((err) => {
      // a client that disconnects is not worth a warning
      if ((err as { code?: string }).code !== 'ERR_STREAM_PREMATURE_CLOSE')
        logger.warn({ err, file: fileName }, 'a download broke off');
      response.destroy();
    });
  } finally {
    leave();
  }
}
