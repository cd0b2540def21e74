import { Entity, Index } from 'typeorm';
import { Bool, Id, Int, Utc } from '../../platform/schema/columns.js';

/**
 * A state of the records of a domain: what a change set left behind. Only its differences to the one before are stored,
 * in `record_changes`; older states are found by taking these back from the records of now. It outlives its domain, as
 * change sets do.
 */
@Entity('versions')
@Index('versions_domain_uq', ['domain_id', 'version'], { unique: true })
@Index('versions_set_ix', ['change_set_id'])
export class Version {
  @Id() id!: number;
  @Int() domain_id!: number;
  /** from 1, without gaps; pieces of a list that follow each other are one */
  @Int() version!: number;
  /** null: the first reading of the zone, or what was found when versions began */
  @Int({ nullable: true }) change_set_id!: number | null;
  /** the states before it are not known: it is older than versions, or they were as old as the settings keep none */
  @Bool() inherited!: boolean;
  /** records that it made, changed and took away */
  @Int() created!: number;
  @Int() updated!: number;
  @Int() deleted!: number;
  @Utc() created_at!: string;
}
