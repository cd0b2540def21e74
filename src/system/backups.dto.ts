export class BackupMade {
  /** its name, in the folder `backups` of the data directory */
  file!: string;
  /** bytes */
  size!: number;
  /** of the file, hexadecimal */
  sha256!: string;
  created_at!: string;
}

export class BackupFile {
  file!: string;
  /** bytes */
  size!: number;
  created_at!: string;
  /** made by the schedule, which also takes it away */
  scheduled!: boolean;
}
