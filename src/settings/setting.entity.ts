import { Entity, PrimaryColumn } from 'typeorm';
import { Text } from '../platform/schema/columns.js';

/** A named document; secrets in it are encrypted. */
@Entity('settings')
export class Setting {
  @PrimaryColumn({ type: 'varchar', length: 64 }) name!: string;
  @Text() content!: string;
}
