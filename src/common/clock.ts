/**
 * Now, or a moment `offsetMs` away from now, as ISO 8601 UTC with milliseconds: the one form in which times are stored
 * and sent.
 */
export const now = (offsetMs = 0): string => new Date(Date.now() + offsetMs).toISOString();

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
