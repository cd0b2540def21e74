import { Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { Id, Int, Str, Utc } from '../platform/schema/columns.js';
import { User } from '../users/user.entity.js';

@Entity('teams')
@Index('teams_name_ix', ['name', 'id'])
export class Team {
  @Id() id!: number;
  @Str(128) name!: string;
  @Str(255) description!: string;
  @Int({ nullable: true }) created_by!: number | null;
  @Utc() created_at!: string;
}

@Entity('team_members')
@Index('team_members_user_ix', ['user_id', 'team_id'])
export class TeamMember {
  @PrimaryColumn({ type: Number }) team_id!: number;
  @ManyToOne(() => Team, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'team_id', foreignKeyConstraintName: 'team_members_team_fk' })
  team?: Team;
  @PrimaryColumn({ type: Number }) user_id!: number;
  @ManyToOne(() => User, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'team_members_user_fk' })
  user?: User;
  /** owner, manager, member */
  @Str(16) role!: string;
  @Utc() joined_at!: string;
}
