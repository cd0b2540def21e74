/** Whoever holds it copies the records of a domain into the trash, or removes such a copy. */
export const trashLock = (domainId: number): string => `trash|${domainId}`;
