/** What a command ends with. docs/clients.md has the table. */
export const EXIT = {
  done: 0,
  other: 1,
  differences: 2,
  refused: 3,
  waiting: 4,
  conflict: 5,
  unreachable: 6,
  interrupted: 130,
} as const;
