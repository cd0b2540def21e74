import { Buffer } from 'node:buffer';

/** Reads an answer's body, up to `maxMiB`. @throws Error for a larger one, without reading the rest */
export async function readBody(body: AsyncIterable<Uint8Array>, maxMiB: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxMiB * 1024 * 1024) throw new Error(`the answer is larger than ${maxMiB} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
