import { Entity, PrimaryColumn } from 'typeorm';
import { Str } from '../../../platform/schema/columns.js';
import { Fleeting } from '../../../platform/schema/restored.js';

/** The name of this installation among checkers, which all replicas share. A restored copy is another node. */
@Fleeting()
@Entity('checker_nodes')
export class CheckerNode {
  /** 1: there is one row */
  @PrimaryColumn({ type: Number }) id!: number;
  @Str(32) node!: string;
}
