import { IsIn } from 'class-validator';
import { EXPORT_FORMATS, type ExportFormat } from '../../documents/document.js';

export class ExportQuery {
  /** the form of the file */
  @IsIn(EXPORT_FORMATS)
  format!: ExportFormat;
}
