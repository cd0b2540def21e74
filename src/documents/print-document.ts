import { due, turn } from '../platform/common/turns.js';
import { csv } from './csv.js';
import { dnscontrol } from './dnscontrol.js';
import type { ExportFormat, PrintedRecord, Printer } from './document.js';
import { json } from './json.js';
import { octodns } from './octodns-print.js';
import { terraform } from './terraform.js';
import { zoneFile } from './zonefile.js';

export const PRINTERS: Record<ExportFormat, Printer> = {
  zonefile: zoneFile,
  csv,
  json,
  octodns,
  dnscontrol,
  terraform,
};

/** Characters that are sent at once. */
const PIECE = 65_536;

/**
 * The text of a document, piece by piece and in turns.
 * @param pages records in the order of their hosts; all of one host are in one page
 */
export async function* printDocument(
  format: ExportFormat,
  zone: string,
  pages: AsyncIterable<readonly PrintedRecord[]>,
): AsyncGenerator<string> {
  const printing = PRINTERS[format].print(zone);
  let text = printing.head;
  for await (const page of pages) {
    for (const part of printing.records(page)) {
      text += part;
      if (due()) await turn();
      if (text.length < PIECE) continue;
      yield text;
      text = '';
    }
  }
  yield text + printing.tail();
}
