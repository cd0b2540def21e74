/** A record, or a part of one, that a provider cannot hold as it is. */
export class NotAsItIs {
  host!: string;
  type!: string;
  /** the record's value, or which field of it becomes what */
  what!: string;
  why!: string;
}

/** What of a zone another provider cannot hold as it is. */
export class MoveReport {
  /** records that are not taken over; the first ones */
  lost!: NotAsItIs[];
  /** what becomes another in records that are taken over; the first ones */
  changed!: NotAsItIs[];
  /** how many there are */
  lost_count!: number;
  changed_count!: number;
}
