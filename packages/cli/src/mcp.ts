import type { Command } from 'commander';
export async function serve(_o: { allowApply?: boolean }, _c: Command): Promise<number> {
  return 0;
}
