/**
 * The lines of UTF-8 text, without LF. Unlike `readline`, it does not split at U+2028 and U+2029, which JSON strings
 * may contain.
 */
export async function* linesOf(source: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let head: Buffer[] = [];
  for await (const chunk of source) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const tail = chunk.subarray(from, end);
      yield (head.length ? Buffer.concat([...head, tail]) : tail).toString();
      head = [];
      from = end + 1;
    }
    if (from < chunk.length) head.push(chunk.subarray(from));
  }
  if (head.length) yield Buffer.concat(head).toString();
}
