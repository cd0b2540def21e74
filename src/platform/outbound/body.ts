import { Buffer } from 'node:buffer';

/** Reads an answer's body, up to `maxMiB`, as it came. @throws Error for a larger one, without reading the rest */
export async function readChunks(body: AsyncIterable<Uint8Array>, maxMiB: number): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxMiB * 1024 * 1024) throw new Error(`the answer is larger than ${maxMiB} MiB`);
    chunks.push(chunk);
  }
  return chunks;
}

/** The same in one. */
export const readBody = async (body: AsyncIterable<Uint8Array>, maxMiB: number): Promise<Buffer> =>
  Buffer.concat(await readChunks(body, maxMiB));
