import { Injectable } from '@nestjs/common';
import type { StoredRecord } from '../../cache/record-cache.js';
import type { ExportFormat, PrintedRecord } from '../../documents/document.js';
import { PRINTERS, printDocument } from '../../documents/print-document.js';
import { type OpenDomain, revisionTag } from '../../domains/domain-policy.js';
import type { Download } from '../../platform/http/download.js';
import { AllowedRecords } from '../allowed-records.js';
import { RecordsService } from '../records.service.js';

const printed = (row: StoredRecord): PrintedRecord => ({ ...row, readOnly: row.read_only });

/** Pages in which all records of a host stand together. */
async function* byHosts(pages: AsyncIterable<StoredRecord[]>): AsyncGenerator<PrintedRecord[]> {
  let rest: PrintedRecord[] = [];
  for await (const page of pages) {
    const all = rest.concat(page.map(printed));
    const last = all.at(-1)?.host;
    const at = all.findIndex(({ host }) => host === last);
    rest = at < 0 ? [] : all.splice(at);
    yield all;
  }
  yield rest;
}

/** Documents of the records of a domain. */
@Injectable()
export class ExportService {
  constructor(
    private readonly readable: AllowedRecords,
    private readonly records: RecordsService,
  ) {}

  /**
   * All cached records that the asker may read, in the order of their hosts. What is changed while it is read is in it
   * as it was, or as it became.
   * @param gone whether nobody waits for it any more
   */
  async download(opened: OpenDomain, format: ExportFormat, gone: () => boolean): Promise<Download> {
    const domain = await this.records.fresh(opened);
    const { id, name, revision } = domain;
    const { contentType, extension } = PRINTERS[format];
    const pages = this.readable.all(domain, { where: 'domain_id = ?', values: [id], order: 'host ASC, id ASC' }, gone);
    // a name may have a slash (RFC 2317), which no file name has
    const fileName = `${name.replaceAll('/', '-')}.${extension}`;
    return { contentType, fileName, tag: revisionTag(revision), pieces: printDocument(format, name, byHosts(pages)) };
  }
}
